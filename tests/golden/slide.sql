-- what: SLIDE: the operator of OVER gives one row for each key and time; each then gets the window that ends there.
SELECT window_end, UPPER(user_name) AS who, COUNT(*) AS n, AVG(amount) AS mean
FROM TABLE(SLIDE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
WHERE amount > 0
GROUP BY window_start, window_end, UPPER(user_name)
HAVING COUNT(DISTINCT amount) > 1;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT UPPER(user_name) AS c0, unix_millis(ts) AS c1, amount AS c2
FROM (
  SELECT __q0.user_name, __q0.amount, __q0.ts
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
  WHERE amount > 0
) AS __in;
-- view sqlext_step_2: stateful function over over sqlext_step_1
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_3 AS
SELECT
  __k0,
  __slide_time,
  __r0,
  __r1,
  __r2,
  named_struct('start', timestamp_millis(unix_millis(__slide_time) - 599999L), 'end', timestamp_millis(unix_millis(__slide_time) + 1L)) AS __window
FROM (
  SELECT
    __k0,
    timestamp_millis(__ms) AS __slide_time,
    __a0 AS __r0,
    (CAST(__a1 DIV __a2 AS INT)) AS __r1,
    __a3 AS __r2
  FROM sqlext_step_2
);
-- view sqlext_step_4: sqlext_step_3 with column __window marked as event time
-- shown
SELECT CAST(__window.end AS TIMESTAMP_NTZ) AS window_end, who, n, mean
FROM (
  SELECT __slide.__window, __slide.__k0 AS who, __slide.__r0 AS n, __slide.__r1 AS mean
  FROM sqlext_step_4 AS __slide
  WHERE __slide.__r2 > 1
);
