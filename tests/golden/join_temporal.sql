-- what: A temporal join with a versioned view: each row below it is a version; conditions are asked of the one found.
CREATE TEMPORARY VIEW last_clicks AS
SELECT user_name, amount, ts
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY user_name ORDER BY ts DESC) AS n FROM clicks)
WHERE n = 1;

SELECT c.amount, l.amount AS last_amount, c.ts
FROM clicks AS c LEFT JOIN last_clicks FOR SYSTEM_TIME AS OF c.ts AS l
ON c.user_name = l.user_name AND c.amount > 1 AND l.amount > 2;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_clicks_2: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT
  c.user_name AS c0,
  CASE
    WHEN (c.amount > 1) THEN true END AS c1,
  CAST(0 AS TINYINT) AS c2,
  c.amount AS c3,
  c.ts AS c4,
  NULL AS c5,
  NULL AS c6,
  TRUE AS c7,
  NULL AS c8,
  unix_millis(c.ts) AS c9
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
  l.user_name AS c0,
  true AS c1,
  CAST(1 AS TINYINT) AS c2,
  NULL AS c3,
  NULL AS c4,
  l.amount AS c5,
  CAST(l.ts AS TIMESTAMP_NTZ) AS c6,
  NULL AS c7,
  l.amount > 2 AS c8,
  unix_millis(l.ts) AS c9
FROM (
  SELECT __q0.user_name, __q0.amount, __q0.ts
  FROM (
    SELECT __in.user_name, __in.amount, __in.ts, __in.__over_0 AS n
    FROM (
      SELECT user_name, amount, ts, 1 AS __over_0
      FROM (
        SELECT clicks.user_name, clicks.amount, clicks.ts
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
      ) AS __in
    ) AS __in
  ) AS __q0
) AS l;
-- view sqlext_step_2: stateful function join over sqlext_step_1
-- shown
SELECT amount, last_amount, CAST(ts AS TIMESTAMP_NTZ) AS ts
FROM (
  SELECT __j1.amount, __j1.amount_1 AS last_amount, __j1.ts
  FROM (
    SELECT amount, ts, amount_1, ts_1
    FROM sqlext_step_2 AS __j1
  ) AS __j1
);
