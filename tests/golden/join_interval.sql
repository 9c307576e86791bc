-- what: An interval join by the conditions of WHERE, and a window over its result that waits as long as rows do.
SELECT window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(
  (SELECT c.ts FROM clicks AS c, clicks AS d
   WHERE c.user_name = d.user_name AND d.ts BETWEEN c.ts - INTERVAL '10' SECOND AND c.ts + INTERVAL '1' HOUR),
  DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_clicks_2: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT
  c.user_name AS c0,
  CAST(0 AS TINYINT) AS c1,
  c.user_name AS c2,
  c.ts AS c3,
  NULL AS c4,
  NULL AS c5,
  CAST(c.ts AS TIMESTAMP_NTZ) - INTERVAL '10' SECOND AS c6,
  NULL AS c7,
  CAST(c.ts AS TIMESTAMP_NTZ) + INTERVAL '1' HOUR AS c8,
  unix_millis(c.ts) + 3600000 AS c9
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
) AS c
UNION ALL
SELECT
  d.user_name AS c0,
  CAST(1 AS TINYINT) AS c1,
  NULL AS c2,
  NULL AS c3,
  d.user_name AS c4,
  d.ts AS c5,
  NULL AS c6,
  CAST(d.ts AS TIMESTAMP_NTZ) AS c7,
  NULL AS c8,
  unix_millis(d.ts) + 10000 AS c9
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
) AS d;
-- view sqlext_step_2: stateful function join over sqlext_step_1
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_3 AS
SELECT unix_millis(ts) AS c0
FROM (
  SELECT ts
  FROM (
    SELECT __j1.ts
    FROM (
      SELECT user_name, ts, user_name_1, ts_1
      FROM sqlext_step_2 AS __j1
    ) AS __j1
    WHERE __j1.user_name = __j1.user_name_1 AND CAST(__j1.ts_1 AS TIMESTAMP_NTZ) BETWEEN CAST(__j1.ts AS TIMESTAMP_NTZ) - INTERVAL '10' SECOND AND CAST(__j1.ts AS TIMESTAMP_NTZ) + INTERVAL '1' HOUR
  ) AS __q0
) AS __q0;
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
