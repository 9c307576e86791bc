-- what: The rows of sessions: an operator keeps them until their session is over.
SELECT user_name, amount, window_start, window_end
FROM TABLE(SESSION(TABLE clicks PARTITION BY user_name, DESCRIPTOR(ts), INTERVAL '1' MINUTE));

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT user_name AS c0, unix_millis(ts) AS c1, struct(user_name, amount, ts) AS c2
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
) AS clicks;
-- view sqlext_step_2: stateful function window over sqlext_step_1
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_3 AS
SELECT __row.user_name, __row.amount, __row.ts, __window
FROM (
  SELECT
    explode(__rows) AS __row,
    named_struct('start', timestamp_millis(__start), 'end', timestamp_millis(__end)) AS __window
  FROM sqlext_step_2
);
-- view sqlext_step_4: sqlext_step_3 with column __window marked as event time
-- shown
SELECT
  user_name,
  amount,
  CAST(__window.start AS TIMESTAMP_NTZ) AS window_start,
  CAST(__window.end AS TIMESTAMP_NTZ) AS window_end
FROM (
  SELECT __q0.user_name, __q0.amount, __q0.__window
  FROM sqlext_step_4 AS __q0
);
