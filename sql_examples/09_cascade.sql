-- Windows over windows: minutes become ten-minute windows. window_time carries the event time from one to the next.
-- Flink 2.3 runs this file unchanged and gives the same rows.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE VIEW by_minute AS
SELECT customer, window_time AS minute_time, COUNT(*) AS orders, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY customer, window_start, window_end, window_time;

-- One streaming query with two aggregations, one after the other.
SELECT customer, window_start, COUNT(*) AS active_minutes, SUM(orders) AS orders, MAX(total) AS best_minute
FROM TABLE(TUMBLE(TABLE by_minute, DESCRIPTOR(minute_time), INTERVAL '10' MINUTE))
GROUP BY customer, window_start, window_end;
