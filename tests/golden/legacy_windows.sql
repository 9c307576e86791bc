-- what: GROUP BY TUMBLE and its auxiliary functions.
SELECT user_name, TUMBLE_START(ts, INTERVAL '1' HOUR) AS s, TUMBLE_END(ts, INTERVAL '1' HOUR) AS e,
       TUMBLE_ROWTIME(ts, INTERVAL '1' HOUR) AS t, COUNT(*) AS n
FROM clicks
GROUP BY user_name, TUMBLE(ts, INTERVAL '1' HOUR);

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
-- shown
SELECT
  user_name,
  CAST(__window.start AS TIMESTAMP_NTZ) AS s,
  CAST(__window.end AS TIMESTAMP_NTZ) AS e,
  CAST((__window.end - INTERVAL '0.001' SECOND) AS TIMESTAMP_NTZ) AS t,
  n
FROM (
  SELECT user_name, clicks.__window, COUNT(*) AS n
  FROM (
    SELECT user_name, amount, ts, window(ts, '1 hour') AS __window
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
  ) AS clicks
  GROUP BY __window, user_name
);
