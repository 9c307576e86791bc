-- Views, sub-queries and WITH: event time stays event time while a column is only passed on or renamed.
-- Flink 2.3 runs this file unchanged and gives the same rows.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE VIEW big_orders AS
SELECT customer AS who, amount, ts AS ordered_at FROM orders WHERE amount >= 5;

CREATE VIEW big_orders_per_window AS
SELECT who, window_start AS started, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE big_orders, DESCRIPTOR(ordered_at), INTERVAL '10' MINUTE))
GROUP BY who, window_start, window_end;

SELECT who, started, total FROM big_orders_per_window WHERE total > 10;

-- A sub-query instead of a view.
SELECT window_start, COUNT(*) AS orders
FROM TABLE(TUMBLE((SELECT ts AS t FROM orders WHERE item = 'pen'), DESCRIPTOR(t), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;

-- A common table expression.
WITH pens AS (SELECT customer, ts FROM orders WHERE item = 'pen')
SELECT customer, window_start, COUNT(*) AS pens
FROM TABLE(TUMBLE(TABLE pens, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY customer, window_start, window_end;
