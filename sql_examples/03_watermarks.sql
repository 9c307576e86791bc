-- Watermarks: how far event time has come. WATERMARK FOR names the event-time column and says how long to wait.
-- Flink 2.3 runs this file unchanged and gives the same rows.

-- A constant delay: the usual form. A row may be up to 30 seconds older than the newest one.
CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

-- Event time computed from text, in a format of its own.
CREATE TABLE orders_from_text (
  item STRING, `ts` STRING,
  event_time AS TO_TIMESTAMP(`ts`, 'yyyy-MM-dd HH:mm:ss'),
  WATERMARK FOR event_time AS event_time - INTERVAL '1' MINUTE
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

-- Event time from an epoch number, as an instant (TIMESTAMP_LTZ).
CREATE TABLE clicks (
  user_id STRING, page STRING, `at` BIGINT,
  ts AS TO_TIMESTAMP_LTZ(`at`, 3),
  WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
) WITH ('connector' = 'filesystem', 'path' = '${IN}/clicks', 'format' = 'json');

-- Any expression: here the big orders' rows make the time wait longer.
CREATE TABLE orders_by_expression (
  item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS CASE WHEN amount > 5 THEN ts - INTERVAL '60' SECOND ELSE ts - INTERVAL '30' SECOND END
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

SELECT window_start, COUNT(*) AS orders
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end;

SELECT window_start, COUNT(*) AS orders
FROM TABLE(TUMBLE(TABLE orders_from_text, DESCRIPTOR(event_time), INTERVAL '5' MINUTE))
GROUP BY window_start, window_end;

SELECT window_start, COUNT(*) AS clicks
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;

SELECT window_start, COUNT(*) AS orders
FROM TABLE(TUMBLE(TABLE orders_by_expression, DESCRIPTOR(ts), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end;
