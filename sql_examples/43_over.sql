-- OVER: each row, with what came before it: all of its partition, the last rows, or the last minutes. A row comes out
-- once, when the watermark has passed it; only rows that a frame can still reach are kept (EXPLAIN says which).
-- Flink 2.3 runs this file unchanged and gives the same rows.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

-- RANGE goes by time: what the customer ordered in the last ten minutes, and of how many items.
SELECT order_id, customer, COUNT(*) OVER recent AS orders, SUM(amount) OVER recent AS total,
  COUNT(DISTINCT item) OVER recent AS items
FROM orders
WINDOW recent AS (PARTITION BY customer ORDER BY ts RANGE BETWEEN INTERVAL '10' MINUTE PRECEDING AND CURRENT ROW);

-- ROWS counts rows: this order and the two before it, of whatever customer.
SELECT order_id, AVG(amount) OVER last_three AS mean, MIN(amount) OVER last_three AS least,
  FIRST_VALUE(item) OVER last_three AS item
FROM orders
WINDOW last_three AS (ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW);

-- LAG looks back; numbers by time need no filter.
SELECT order_id, customer, amount - LAG(amount) OVER (PARTITION BY customer ORDER BY ts) AS more FROM orders;
SELECT order_id, customer, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY ts) AS number FROM orders;

-- The rowtime stays one: a window over the running total of each item.
CREATE TEMPORARY VIEW IF NOT EXISTS totals AS
SELECT item, ts, SUM(amount) OVER (PARTITION BY item ORDER BY ts) AS so_far FROM orders;

SELECT item, window_end, MAX(so_far) AS so_far
FROM TABLE(TUMBLE(TABLE totals, DESCRIPTOR(ts), INTERVAL '5' MINUTE))
GROUP BY item, window_start, window_end;

-- Ordered by what is no time, a new row may change the results of others: these are taken back and given anew.
SELECT order_id, item, amount, SUM(amount) OVER (PARTITION BY item ORDER BY amount) AS up_to_here FROM orders;
SELECT order_id, item, RANK() OVER (PARTITION BY item ORDER BY amount) AS place FROM orders;
