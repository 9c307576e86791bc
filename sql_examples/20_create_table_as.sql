-- CREATE TABLE AS: a table with the columns of a query, filled by it.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE pen_orders
WITH ('connector' = 'filesystem', 'path' = '${OUT}/pen_orders', 'format' = 'json')
AS SELECT order_id, customer, amount, ts FROM orders WHERE item = 'pen';

-- A Delta table of a windowed result.
CREATE TABLE per_window
WITH ('connector' = 'delta', 'path' = '${OUT}/per_window')
AS SELECT window_start, COUNT(*) AS orders
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTE))
GROUP BY window_start, window_end;

DESCRIBE per_window;
