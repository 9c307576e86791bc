-- what: Three seconds every five: rows in the last two belong to no window.
SELECT HOP_START(ts, INTERVAL '5' SECOND, INTERVAL '3' SECOND) AS s, COUNT(*) AS n
FROM clicks
GROUP BY HOP(ts, INTERVAL '5' SECOND, INTERVAL '3' SECOND);

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT
  user_name,
  amount,
  ts,
  named_struct('start', timestamp_millis(__start), 'end', timestamp_millis((__start + 3000L)), 'wall_start', timestampadd(MILLISECOND, __start, TIMESTAMP_NTZ '1970-01-01 00:00:00'), 'wall_end', timestampadd(MILLISECOND, __start + 3000L, TIMESTAMP_NTZ '1970-01-01 00:00:00')) AS __window
FROM (
  SELECT user_name, amount, ts, __ms, explode(array((__ms - pmod(__ms - 0L, 5000L)))) AS __start
  FROM (
    SELECT user_name, amount, ts, unix_millis(ts) AS __ms
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
    )
  )
)
WHERE __ms < __start + 3000L;
-- view sqlext_step_2: sqlext_step_1 with column __window marked as event time
-- shown
SELECT CAST(__window.start AS TIMESTAMP_NTZ) AS s, n
FROM (
  SELECT clicks.__window, COUNT(*) AS n
  FROM sqlext_step_2 AS clicks
  GROUP BY __window
);
