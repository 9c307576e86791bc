-- CUMULATE: windows that begin together and end one after the other: here the day's first 5, 10 and 15 minutes of each
-- quarter of an hour. DISTINCT within aggregates. Spark has neither for streams; a stateful function of ours does both.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

SELECT window_start, window_end, COUNT(*) AS orders, COUNT(DISTINCT customer) AS customers,
  COUNT(DISTINCT item) FILTER (WHERE amount > 4) AS items, SUM(DISTINCT amount) AS amounts
FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '15' MINUTE))
GROUP BY window_start, window_end;

-- With a tumbling window, for each item.
SELECT item, window_start, COUNT(DISTINCT customer) AS customers
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY item, window_start, window_end;
