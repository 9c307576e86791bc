-- what: OVER: one operator for windows over the same rows, each function with its frame; Spark finishes the aggregates.
SELECT user_name, amount, ts, AVG(amount) OVER w AS mean, COUNT(DISTINCT amount) OVER w + 1 AS kinds,
  LAG(amount, 2, 0) OVER (PARTITION BY user_name ORDER BY ts) AS before,
  ROW_NUMBER() OVER (PARTITION BY user_name ORDER BY ts) AS number
FROM clicks
WHERE amount > 0
WINDOW w AS (PARTITION BY user_name ORDER BY ts RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND CURRENT ROW);

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT user_name AS c0, unix_millis(ts) AS c1, amount AS c2, struct(amount AS v) AS c3, ts AS c4
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
  WHERE amount > 0
) AS __in;
-- view sqlext_step_2: stateful function over over sqlext_step_1
-- shown
SELECT user_name, amount, CAST(ts AS TIMESTAMP_NTZ) AS ts, mean, kinds, before, number
FROM (
  SELECT
    __in.user_name,
    __in.amount,
    __in.ts,
    __in.__over_0 AS mean,
    coalesce(try_add(__in.__over_1, 1), CAST(pmod(CAST(__in.__over_1 AS DECIMAL(20, 0)) + CAST(1 AS DECIMAL(20, 0)) + 9223372036854775808, 18446744073709551616) - 9223372036854775808 AS BIGINT)) AS kinds,
    __in.__over_2 AS before,
    __in.__over_3 AS number
  FROM (
    SELECT
      user_name,
      amount,
      ts,
      (CAST(__a0 DIV __a1 AS INT)) AS __over_0,
      __a2 AS __over_1,
      CASE
        WHEN __a3 IS NULL THEN 0
        ELSE __a3.v END AS __over_2,
      __a4 AS __over_3
    FROM sqlext_step_2 AS __in
  ) AS __in
);
