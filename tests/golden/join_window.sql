-- what: A window join; the windows of its left side can be grouped by.
SELECT c.window_start, COUNT(d.amount) AS n
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) AS c
LEFT JOIN TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) AS d
ON c.window_start = d.window_start AND c.window_end = d.window_end AND c.user_name = d.user_name
GROUP BY c.window_start, c.window_end;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_clicks_2: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT
  CAST(c.__window.start AS TIMESTAMP_NTZ) AS c0,
  CAST(c.__window.end AS TIMESTAMP_NTZ) AS c1,
  c.user_name AS c2,
  CAST(0 AS TINYINT) AS c3,
  c.amount AS c4,
  CAST(c.ts AS TIMESTAMP_NTZ) AS c5,
  c.__window AS c6,
  NULL AS c7,
  NULL AS c8,
  NULL AS c9,
  NULL AS c10,
  unix_millis(c.__window.end) AS c11
FROM (
  SELECT user_name, amount, ts, window(ts, '1 minute') AS __window
  FROM (
    SELECT user_name, amount, ts
    FROM (
      SELECT *, spark_partition_id() >= 0 AS __seen
      FROM (
        SELECT
          user_name,
          amount,
          CASE
            WHEN ts IS NULL THEN CAST(raise_error('[RUN-001] rowtime clicks.ts is NULL') AS TIMESTAMP)
            WHEN ts < TIMESTAMP '1970-01-01 00:00:00Z' THEN CAST(raise_error('[RUN-002] rowtime clicks.ts lies before 1970, where Spark\'s watermark begins') AS TIMESTAMP)
            ELSE ts END AS ts,
          CAST(NULL AS STRING) AS __heartbeat
        FROM sqlext_clicks
        UNION ALL
        SELECT NULL, NULL, CAST(value AS TIMESTAMP), value
        FROM sqlext_heartbeat
      ) WATERMARK ts DELAY OF INTERVAL '5' SECOND
    )
    WHERE __seen AND __heartbeat IS NULL
  ) AS clicks
) AS c
UNION ALL
SELECT
  CAST(d.__window.start AS TIMESTAMP_NTZ) AS c0,
  CAST(d.__window.end AS TIMESTAMP_NTZ) AS c1,
  d.user_name AS c2,
  CAST(1 AS TINYINT) AS c3,
  NULL AS c4,
  NULL AS c5,
  NULL AS c6,
  d.amount AS c7,
  CAST(d.ts AS TIMESTAMP_NTZ) AS c8,
  CAST(d.__window.start AS TIMESTAMP_NTZ) AS c9,
  CAST(d.__window.end AS TIMESTAMP_NTZ) AS c10,
  unix_millis(d.__window.end) AS c11
FROM (
  SELECT user_name, amount, ts, window(ts, '1 minute') AS __window
  FROM (
    SELECT user_name, amount, ts
    FROM (
      SELECT *, spark_partition_id() >= 0 AS __seen
      FROM (
        SELECT
          user_name,
          amount,
          CASE
            WHEN ts IS NULL THEN CAST(raise_error('[RUN-001] rowtime clicks.ts is NULL') AS TIMESTAMP)
            WHEN ts < TIMESTAMP '1970-01-01 00:00:00Z' THEN CAST(raise_error('[RUN-002] rowtime clicks.ts lies before 1970, where Spark\'s watermark begins') AS TIMESTAMP)
            ELSE ts END AS ts,
          CAST(NULL AS STRING) AS __heartbeat
        FROM sqlext_clicks_2
        UNION ALL
        SELECT NULL, NULL, CAST(value AS TIMESTAMP), value
        FROM sqlext_heartbeat
      ) WATERMARK ts DELAY OF INTERVAL '5' SECOND
    )
    WHERE __seen AND __heartbeat IS NULL
  ) AS clicks
) AS d;
-- view sqlext_step_2: stateful function join over sqlext_step_1
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_3 AS
SELECT unix_millis(__window.start) AS c0, unix_millis(__window.end) AS c1, __j1.amount_1 AS c2
FROM (
  SELECT amount, ts, __window, amount_1, ts_1, window_start, window_end
  FROM sqlext_step_2 AS __j1
) AS __j1;
-- view sqlext_step_4: stateful function window over sqlext_step_3
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_5 AS
SELECT
  __a0,
  named_struct('start', timestamp_millis(__start), 'end', timestamp_millis(__end)) AS __window
FROM sqlext_step_4;
-- view sqlext_step_6: sqlext_step_5 with column __window marked as event time
-- shown
SELECT CAST(__window.start AS TIMESTAMP_NTZ) AS window_start, n
FROM (
  SELECT __window, __a0 AS n
  FROM sqlext_step_6
);
