-- what: CUMULATE and DISTINCT: the operator gives the windows; AVG of an INT divides as integers do.
SELECT user_name, window_end, COUNT(DISTINCT amount) AS kinds, AVG(amount) AS mean
FROM TABLE(CUMULATE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE))
WHERE amount > 0
GROUP BY user_name, window_start, window_end
HAVING COUNT(*) > 1;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT user_name AS c0, unix_millis(ts) AS c1, amount AS c2
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
) AS __q0
WHERE amount > 0;
-- view sqlext_step_2: stateful function window over sqlext_step_1
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_3 AS
SELECT
  __k0,
  __a0,
  __a1,
  __a2,
  __a3,
  named_struct('start', timestamp_millis(__start), 'end', timestamp_millis(__end)) AS __window
FROM sqlext_step_2;
-- view sqlext_step_4: sqlext_step_3 with column __window marked as event time
-- shown
SELECT user_name, CAST(__window.end AS TIMESTAMP_NTZ) AS window_end, kinds, mean
FROM (
  SELECT __k0 AS user_name, __window, __a0 AS kinds, (CAST(__a1 DIV __a2 AS INT)) AS mean
  FROM sqlext_step_4
  WHERE (__a3 > 1)
);
