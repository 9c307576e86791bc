-- Hopping windows with gaps: the first minute of every five. Rows in between belong to no window.
-- Flink has this for GROUP BY HOP(...) only; here HOP as a table function has it as well.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

SELECT window_start, window_end, COUNT(*) AS orders, SUM(amount) AS total
FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
