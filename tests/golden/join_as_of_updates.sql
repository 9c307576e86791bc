-- what: An as-of join that answers at once: the operator is told so, and gives the kind of each row.
SELECT c.amount, v.amount AS before, c.ts
FROM clicks AS c ASOF JOIN clicks AS v MATCH_CONDITION (c.ts > v.ts) TOLERANCE INTERVAL '1' MINUTE
ON c.user_name = v.user_name
EMIT CHANGES ALLOW LATENESS 10s;

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
  c.amount AS c2,
  c.ts AS c3,
  NULL AS c4,
  NULL AS c5,
  unix_millis(c.ts) AS c6
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
  v.user_name AS c0,
  CAST(1 AS TINYINT) AS c1,
  NULL AS c2,
  NULL AS c3,
  v.amount AS c4,
  CAST(v.ts AS TIMESTAMP_NTZ) AS c5,
  unix_millis(v.ts) AS c6
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
) AS v;
-- view sqlext_step_2: stateful function join over sqlext_step_1
-- shown
SELECT amount, before, CAST(ts AS TIMESTAMP_NTZ) AS ts, __row_kind
FROM (
  SELECT __j1.amount, __j1.amount_1 AS before, __j1.ts, __j1.__row_kind
  FROM (
    SELECT amount, ts, amount_1, ts_1, __row_kind
    FROM sqlext_step_2 AS __j1
  ) AS __j1
);
