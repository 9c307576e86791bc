-- Top-N, deduplication, a group of groups, EXCEPT and LIMIT over a stream: rows that are out are taken back where later
-- ones push them out, so a SELECT shows what is left, and a Delta table with a PRIMARY KEY holds it.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

-- The two largest orders of each customer. The number is looked at by nobody, so it is not kept up to date.
SELECT customer, item, amount FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY amount DESC, order_id) AS n FROM orders
) WHERE n <= 2;

-- The first order of each customer by event time comes once, when the watermark has passed it.
SELECT customer, order_id FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY ts) AS n FROM orders
) WHERE n = 1;

-- The item that sold best in each window; QUALIFY filters what OVER has computed above GROUP BY.
SELECT window_start, item, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTE))
GROUP BY window_start, window_end, item
QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY SUM(amount) DESC, item) = 1;

-- How many customers have how many orders: a group of groups.
SELECT n, COUNT(*) AS customers FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) GROUP BY n;

-- What was ordered for much and never for little.
SELECT item FROM orders WHERE amount >= 5 EXCEPT SELECT item FROM orders WHERE amount < 5;

SELECT order_id, amount FROM orders ORDER BY amount DESC, order_id LIMIT 3;
