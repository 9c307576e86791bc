-- what: The first branch of a union has an ordinary timestamp where the second has the rowtime.
CREATE VIEW both AS
SELECT user_name, CAST(ts AS TIMESTAMP(3)) AS ts FROM clicks UNION ALL SELECT user_name, ts FROM clicks;

SELECT user_name, window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE both, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY user_name, window_start, window_end;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_clicks_2: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
(
  SELECT user_name AS user_name_0, CAST(ts AS TIMESTAMP) AS ts_1
  FROM (
    SELECT clicks.user_name, CAST(CAST(clicks.ts AS TIMESTAMP_NTZ) AS TIMESTAMP_NTZ) AS ts
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
  )
)
UNION ALL
(
  SELECT user_name AS user_name_0, ts AS ts_1
  FROM (
    SELECT clicks.user_name, clicks.ts
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
          FROM sqlext_clicks_2
          UNION ALL
          SELECT NULL, NULL, CAST(value AS TIMESTAMP), value
          FROM sqlext_heartbeat
        ) WATERMARK ts DELAY OF INTERVAL '5' SECOND
      )
      WHERE __seen AND __heartbeat IS NULL
    ) AS clicks
  )
);
-- view sqlext_step_2: sqlext_step_1 with column ts_1 marked as event time
-- shown
SELECT user_name, CAST(__window.start AS TIMESTAMP_NTZ) AS window_start, n
FROM (
  SELECT __q0.user_name_0 AS user_name, __q0.__window, COUNT(*) AS n
  FROM (
    SELECT user_name_0, ts_1, window(ts_1, '1 minute') AS __window
    FROM sqlext_step_2 AS `both`
  ) AS __q0
  GROUP BY __window, __q0.user_name_0
);
