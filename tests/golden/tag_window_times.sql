-- what: A window over the time of a window that Spark cannot make.
SET 'table.local-time-zone' = 'Europe/Berlin';

SELECT TUMBLE_START(t, INTERVAL '10' MINUTE) AS s, SUM(n) AS n
FROM (
  SELECT HOP_ROWTIME(ts, INTERVAL '1' MINUTE, INTERVAL '30' SECOND) AS t, COUNT(*) AS n
  FROM clicks
  GROUP BY HOP(ts, INTERVAL '1' MINUTE, INTERVAL '30' SECOND)
)
GROUP BY TUMBLE(t, INTERVAL '10' MINUTE);

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT
  user_name,
  amount,
  ts,
  named_struct('start', timestamp_millis(__start), 'end', timestamp_millis((__start + 30000L)), 'wall_start', timestampadd(MILLISECOND, __start, TIMESTAMP_NTZ '1970-01-01 00:00:00'), 'wall_end', timestampadd(MILLISECOND, __start + 30000L, TIMESTAMP_NTZ '1970-01-01 00:00:00')) AS __window
FROM (
  SELECT user_name, amount, ts, __ms, explode(array((__ms - pmod(__ms - 0L, 60000L)))) AS __start
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
WHERE __ms < __start + 30000L;
-- view sqlext_step_2: sqlext_step_1 with column __window marked as event time
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_3 AS
SELECT __window, n, (__window.end - INTERVAL '0.001' SECOND) AS __time
FROM (
  SELECT clicks.__window, COUNT(*) AS n
  FROM sqlext_step_2 AS clicks
  GROUP BY __window
);
-- view sqlext_step_4: sqlext_step_3 with column __time marked as event time
-- shown
SELECT
  timestampadd(MICROSECOND, unix_micros(__window_1.start), TIMESTAMP_NTZ '1970-01-01 00:00:00') AS s,
  n
FROM (
  SELECT __q0.__window_1, sum(n) AS n
  FROM (
    SELECT __window, n, __time, window(__time, '10 minutes') AS __window_1
    FROM sqlext_step_4
  ) AS __q0
  GROUP BY __window_1
);
