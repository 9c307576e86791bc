-- Sessions with a maximum length: the last argument of SESSION. A session ends when no row comes for 20 seconds, or 15
-- seconds after its first row. The next row begins a new one. The rule: docs/time.md.

CREATE TABLE clicks (
  user_id STRING, page STRING, `at` BIGINT,
  ts AS TO_TIMESTAMP_LTZ(`at`, 3),
  WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
) WITH ('connector' = 'filesystem', 'path' = '${IN}/clicks', 'format' = 'json');

SELECT user_id, window_start, window_end, COUNT(*) AS clicks
FROM TABLE(SESSION(
  TABLE clicks PARTITION BY user_id, DESCRIPTOR(ts), INTERVAL '20' SECOND, INTERVAL '15' SECOND))
GROUP BY user_id, window_start, window_end;

-- By name, and without groups: each row with its session.
SELECT user_id, page, ts, window_start, window_end
FROM TABLE(SESSION(
  DATA => TABLE clicks PARTITION BY user_id, TIMECOL => DESCRIPTOR(ts),
  GAP => INTERVAL '20' SECOND, MAX_SIZE => INTERVAL '15' SECOND));

-- The legacy form.
SELECT user_id, SESSION_START(ts, INTERVAL '20' SECOND, INTERVAL '15' SECOND) AS s, COUNT(*) AS clicks
FROM clicks
GROUP BY user_id, SESSION(ts, INTERVAL '20' SECOND, INTERVAL '15' SECOND);

-- Batch mode gives the same.
SET 'execution.runtime-mode' = 'batch';

SELECT user_id, window_start, window_end, COUNT(*) AS clicks
FROM TABLE(SESSION(
  TABLE clicks PARTITION BY user_id, DESCRIPTOR(ts), INTERVAL '20' SECOND, INTERVAL '15' SECOND))
GROUP BY user_id, window_start, window_end;
