-- what: A session gap of each row: the operator's in a stream, Spark's own where rows are not a stream.
SELECT user_name, window_start, window_end, COUNT(*) AS n
FROM TABLE(SESSION(TABLE clicks PARTITION BY user_name, DESCRIPTOR(ts), amount * INTERVAL '1' MINUTE))
GROUP BY user_name, window_start, window_end;

SET 'execution.runtime-mode' = 'batch';
SELECT SESSION_START(ts, amount), COUNT(*) AS n FROM clicks GROUP BY SESSION(ts, amount);

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT user_name AS c0, unix_millis(ts) AS c1, __gap AS c2
FROM (
  SELECT user_name, amount, ts, CAST(amount AS BIGINT) * 60000L AS __gap
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
) AS __q0;
-- view sqlext_step_2: stateful function window over sqlext_step_1
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_3 AS
SELECT
  __k0,
  __a0,
  named_struct('start', timestamp_millis(__start), 'end', timestamp_millis(__end)) AS __window
FROM sqlext_step_2;
-- view sqlext_step_4: sqlext_step_3 with column __window marked as event time
-- shown
SELECT
  user_name,
  CAST(__window.start AS TIMESTAMP_NTZ) AS window_start,
  CAST(__window.end AS TIMESTAMP_NTZ) AS window_end,
  n
FROM (
  SELECT __k0 AS user_name, __window, __a0 AS n
  FROM sqlext_step_4
);

-- view sqlext_clicks: read json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- shown
SELECT CAST(__window.start AS TIMESTAMP_NTZ) AS `EXPR$0`, n
FROM (
  SELECT clicks.__window, COUNT(*) AS n
  FROM (
    SELECT
      user_name,
      amount,
      ts,
      __gap,
      session_window(ts, CASE WHEN __gap > 0 THEN concat(__gap, ' milliseconds') ELSE raise_error('[RUN-037] a row\'s session gap is NULL or not positive') END) AS __window
    FROM (
      SELECT user_name, amount, ts, CAST(amount AS BIGINT) AS __gap
      FROM sqlext_clicks AS clicks
    )
  ) AS clicks
  GROUP BY __window
);
