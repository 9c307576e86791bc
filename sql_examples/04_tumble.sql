-- Tumbling windows: fixed, one after the other. A window's row comes once, when the watermark passes its end.
-- Flink 2.3 runs this file unchanged and gives the same rows.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

SELECT item, window_start, window_end, COUNT(*) AS orders, SUM(amount) AS total, MAX(amount) AS largest
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTE))
GROUP BY item, window_start, window_end;

-- An offset moves the windows, and arguments may be named: windows begin at 08:57, 09:02, 09:07 ...
SELECT window_start, COUNT(*) AS orders
FROM TABLE(TUMBLE(
  DATA => TABLE orders, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '5' MINUTE, `OFFSET` => INTERVAL '2' MINUTE))
GROUP BY window_start, window_end;
