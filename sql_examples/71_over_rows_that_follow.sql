-- OVER with rows that follow: LEAD, and frames that end behind the row. A row comes out when the watermark has passed
-- all that it looks at. Flink 2.3 refuses these over streams.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

-- The customer's next order, and how long it took; 'none' where there is none.
SELECT order_id, customer, LEAD(item, 1, 'none') OVER later AS next_item,
  TIMESTAMPDIFF(SECOND, ts, LEAD(ts) OVER later) AS seconds
FROM orders
WINDOW later AS (PARTITION BY customer ORDER BY ts);

-- RANGE goes by time: the orders of ten minutes around each one.
SELECT order_id, COUNT(*) OVER around AS orders, MAX(amount) OVER around AS most
FROM orders
WINDOW around AS (ORDER BY ts RANGE BETWEEN INTERVAL '5' MINUTE PRECEDING AND INTERVAL '5' MINUTE FOLLOWING);

-- ROWS counts rows: the mean of the row before, this one and the next; and what comes after this row alone.
SELECT order_id, AVG(amount) OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS smooth,
  SUM(amount) OVER (ORDER BY ts ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING) AS next_two,
  SUM(amount) OVER (ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
FROM orders;

-- By RANGE the rowtime stays one: a window over what each order has around it.
CREATE TEMPORARY VIEW IF NOT EXISTS busy AS
SELECT ts, COUNT(*) OVER (ORDER BY ts RANGE BETWEEN CURRENT ROW AND INTERVAL '5' MINUTE FOLLOWING) AS soon FROM orders;

SELECT window_end, MAX(soon) AS busiest
FROM TABLE(TUMBLE(TABLE busy, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end;
