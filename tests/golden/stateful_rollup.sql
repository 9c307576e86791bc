-- what: DISTINCT with ROLLUP: each row once for every set.
SELECT window_start, user_name, GROUPING(user_name) AS g, COUNT(DISTINCT amount) AS kinds
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, ROLLUP (user_name);

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT
  CASE
    WHEN __set IN (0) THEN user_name END AS c0,
  __set AS c1,
  unix_millis(ts) AS c2,
  amount AS c3
FROM (
  SELECT user_name, amount, ts
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
) AS __q0 LATERAL VIEW explode(array(0, 1)) __sets AS __set;
-- view sqlext_step_2: stateful function window over sqlext_step_1
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_3 AS
SELECT
  __k0,
  __set,
  __a0,
  named_struct('start', timestamp_millis(__start), 'end', timestamp_millis(__end)) AS __window
FROM sqlext_step_2;
-- view sqlext_step_4: sqlext_step_3 with column __window marked as event time
-- shown
SELECT CAST(__window.start AS TIMESTAMP_NTZ) AS window_start, user_name, g, kinds
FROM (
  SELECT
    __window,
    __k0 AS user_name,
    (CAST(CASE WHEN __set IN (0) THEN 0 ELSE 1 END AS BIGINT)) AS g,
    __a0 AS kinds
  FROM sqlext_step_4
);
