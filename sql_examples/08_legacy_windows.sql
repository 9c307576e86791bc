-- Group windows, the older form: GROUP BY TUMBLE | HOP | SESSION, with functions for a window's start, end and time.
-- Flink 2.3 runs this file unchanged and gives the same rows.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

SELECT TUMBLE_START(ts, INTERVAL '5' MINUTE) AS started, TUMBLE_END(ts, INTERVAL '5' MINUTE) AS ended,
       TUMBLE_ROWTIME(ts, INTERVAL '5' MINUTE) AS last_instant, COUNT(*) AS orders
FROM orders
GROUP BY TUMBLE(ts, INTERVAL '5' MINUTE);

SELECT HOP_START(ts, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE) AS started, item, SUM(amount) AS total
FROM orders
WHERE item <> 'paper'
GROUP BY HOP(ts, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE), item;

SELECT customer, SESSION_START(ts, INTERVAL '2' MINUTE) AS started, SESSION_END(ts, INTERVAL '2' MINUTE) AS ended,
       COUNT(*) AS orders
FROM orders
GROUP BY customer, SESSION(ts, INTERVAL '2' MINUTE);
