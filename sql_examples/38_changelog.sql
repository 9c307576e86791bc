-- A changelog: what was given out is taken back (-U) before the row that takes its place (+U). The print connector
-- shows it as Flink's does; ROW_KIND() in the select list writes it as rows; a delta table with a key applies it.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE printed_totals (item STRING, orders BIGINT, amount DOUBLE) WITH ('connector' = 'print');

INSERT INTO printed_totals
SELECT item, COUNT(*), SUM(amount) FROM orders GROUP BY item EMIT CHANGELOG EVERY 2 ROWS;

CREATE TABLE changes (kind STRING, item STRING, started TIMESTAMP(3), orders BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/changes', 'format' = 'json');

INSERT INTO changes
SELECT ROW_KIND(), item, window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY item, window_start, window_end
EMIT CHANGELOG AFTER WATERMARK EARLY EVERY 2 ROWS;

-- Sessions grow and merge: a delta table loses the rows of those that are not there any more (-D).
CREATE TABLE carts (customer STRING, started TIMESTAMP(3), ended TIMESTAMP(3), orders BIGINT)
WITH ('connector' = 'delta', 'path' = '${OUT}/carts');

INSERT INTO carts
SELECT customer, window_start, window_end, COUNT(*)
FROM TABLE(SESSION(TABLE orders PARTITION BY customer, DESCRIPTOR(ts), INTERVAL '2' MINUTE))
GROUP BY customer, window_start, window_end
EMIT AFTER WATERMARK EARLY EVERY 1 ROWS;
