-- A statement set: several INSERTs as one job, started and stopped together.
-- Flink 2.3 runs this file unchanged and gives the same rows.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE per_customer (customer STRING, started TIMESTAMP(3), total DOUBLE)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/per_customer', 'format' = 'json');

CREATE TABLE large_orders (order_id INT, amount DOUBLE)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/large_orders', 'format' = 'csv');

EXECUTE STATEMENT SET
BEGIN

INSERT INTO per_customer
SELECT customer, window_start, SUM(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY customer, window_start, window_end;

INSERT INTO large_orders SELECT order_id, amount FROM orders WHERE amount >= 9;

END;
