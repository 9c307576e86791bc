-- what: OVER with rows that follow: those by time are computed first, as rows that wait for rows have no time any more.
SELECT user_name, ts, LEAD(amount, 2, 0) OVER w AS following, AVG(amount) OVER (w ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS mean,
  COUNT(*) OVER (w RANGE BETWEEN CURRENT ROW AND INTERVAL '1' MINUTE FOLLOWING) AS soon
FROM clicks
WINDOW w AS (PARTITION BY user_name ORDER BY ts);

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT user_name AS c0, unix_millis(ts) AS c1, amount AS c2, ts AS c3
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
        FROM sqlext_clicks
        UNION ALL
        SELECT NULL, NULL, CAST(value AS TIMESTAMP), value
        FROM sqlext_heartbeat
      ) WATERMARK ts DELAY OF INTERVAL '5' SECOND
    )
    WHERE __seen AND __heartbeat IS NULL
  ) AS clicks
) AS __in;
-- view sqlext_step_2: stateful function over over sqlext_step_1
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_3 AS
SELECT
  user_name AS c0,
  unix_millis(ts) AS c1,
  struct(amount AS v) AS c2,
  amount AS c3,
  ts AS c4,
  __over_2 AS c5
FROM (
  SELECT user_name, amount, ts, __a0 AS __over_2
  FROM sqlext_step_2 AS __in
) AS __in;
-- view sqlext_step_4: stateful function over over sqlext_step_3
-- shown
SELECT user_name, ts, `following`, mean, soon
FROM (
  SELECT
    __in.user_name_0 AS user_name,
    __in.ts_2 AS ts,
    __in.__over_0_4 AS `following`,
    __in.__over_1_5 AS mean,
    __in.__over_2_3 AS soon
  FROM (
    SELECT
      __m.user_name AS user_name_0,
      __m.amount AS amount_1,
      CAST(__m.ts AS TIMESTAMP_NTZ) AS ts_2,
      __m.__over_2 AS __over_2_3,
      __m.__over_0 AS __over_0_4,
      __m.__over_1 AS __over_1_5
    FROM (
      SELECT
        user_name,
        amount,
        ts,
        __over_2,
        CASE
          WHEN __a0 IS NULL THEN 0
          ELSE __a0.v END AS __over_0,
        (CAST(__a1 DIV __a2 AS INT)) AS __over_1
      FROM sqlext_step_4 AS __in
    ) AS __m
  ) AS __in
);
