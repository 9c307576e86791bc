-- what: the first row by time, final when the watermark has passed it; then a window over these rows.
SELECT window_start, COUNT(*) AS n
FROM TABLE(TUMBLE((
  SELECT user_name, ts FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY user_name ORDER BY ts) AS rn FROM clicks) WHERE rn = 1),
  DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT
  user_name AS c0,
  amount AS c1,
  ts AS c2,
  CAST(__in.ts AS TIMESTAMP_NTZ) AS c3,
  unix_millis(ts) AS c4
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
-- view sqlext_step_2: stateful function rank over sqlext_step_1
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_3 AS
SELECT unix_millis(ts) AS c0
FROM (
  SELECT user_name, ts
  FROM (
    SELECT __q0.user_name, __q0.ts
    FROM (
      SELECT __in.user_name, __in.amount, __in.ts, __in.__over_0 AS rn
      FROM (
        SELECT user_name, amount, ts, CAST(1 AS BIGINT) AS __over_0
        FROM sqlext_step_2
      ) AS __in
    ) AS __q0
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
