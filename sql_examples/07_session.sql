-- Session windows: a user's clicks until there is none for 20 seconds. PARTITION BY gives each user sessions of their own.
-- Flink 2.3 runs this file unchanged and gives the same rows.

CREATE TABLE clicks (
  user_id STRING, page STRING, `at` BIGINT,
  ts AS TO_TIMESTAMP_LTZ(`at`, 3),
  WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
) WITH ('connector' = 'filesystem', 'path' = '${IN}/clicks', 'format' = 'json');

SELECT user_id, window_start, window_end, COUNT(*) AS clicks
FROM TABLE(SESSION(TABLE clicks PARTITION BY user_id, DESCRIPTOR(ts), INTERVAL '20' SECOND))
GROUP BY user_id, window_start, window_end;

-- Without PARTITION BY: one sequence of sessions for everybody.
SELECT window_start, window_end, COUNT(*) AS clicks
FROM TABLE(SESSION(TABLE clicks, DESCRIPTOR(ts), INTERVAL '20' SECOND))
GROUP BY window_start, window_end;
