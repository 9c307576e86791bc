-- OVER the rows of a window of time: when the window is over all of its rows are there, so every function of batch mode
-- works, in any order. Flink 2.3 refuses these over streams.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

-- Each order of a window: which third it is in, its percent rank, its share of all.
SELECT order_id, window_end, amount, NTILE(3) OVER largest AS third, PERCENT_RANK() OVER largest AS percent,
  CUME_DIST() OVER largest AS up_to, amount / SUM(amount) OVER (PARTITION BY window_start, window_end) AS share
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTE))
WINDOW largest AS (PARTITION BY window_start, window_end ORDER BY amount DESC, order_id);

-- Of each customer in a window: the first and the second item by amount, and how far it is to the next amount.
SELECT order_id, customer, window_end, FIRST_VALUE(item) OVER mine AS best,
  NTH_VALUE(item, 2) OVER (mine ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS second,
  amount - LEAD(amount) OVER mine AS ahead
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
WINDOW mine AS (PARTITION BY window_start, window_end, customer ORDER BY amount DESC, order_id);

-- Over groups: the share of each item in overlapping windows, and a window above by the time that stays.
CREATE TEMPORARY VIEW IF NOT EXISTS shares AS
SELECT item, window_end AS ended, window_time AS t, total / SUM(total) OVER (PARTITION BY window_start, window_end) AS share
FROM (
  SELECT item, window_start, window_end, window_time, SUM(amount) AS total
  FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
  GROUP BY item, window_start, window_end, window_time
);

SELECT item, ended, share FROM shares;

SELECT window_end, MAX(share) AS largest
FROM TABLE(TUMBLE(TABLE shares, DESCRIPTOR(t), INTERVAL '15' MINUTE))
GROUP BY window_start, window_end;
