-- A session gap for each row: the last argument of SESSION is any expression over the row, an INTERVAL or a number of
-- milliseconds. Here a cart is waited for longer than the other pages. (Flink takes a constant alone.)

CREATE TABLE clicks (
  user_id STRING, page STRING, `at` BIGINT,
  ts AS TO_TIMESTAMP_LTZ(`at`, 3),
  WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
) WITH ('connector' = 'filesystem', 'path' = '${IN}/clicks', 'format' = 'json');

SELECT user_id, window_start, window_end, COUNT(*) AS clicks
FROM TABLE(SESSION(
  TABLE clicks PARTITION BY user_id, DESCRIPTOR(ts),
  CASE page WHEN 'cart' THEN INTERVAL '60' SECOND ELSE INTERVAL '10' SECOND END))
GROUP BY user_id, window_start, window_end;

-- The legacy form, and milliseconds. A gap that is NULL, zero or negative fails the job (RUN-037).
SELECT user_id, SESSION_START(ts, CHAR_LENGTH(page) * 2500) AS s, COUNT(*) AS clicks
FROM clicks
GROUP BY user_id, SESSION(ts, CHAR_LENGTH(page) * 2500);
