-- what: A stream with a static table, before a window.
SELECT u.country, w.window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) AS w
LEFT JOIN users AS u ON u.name = w.user_name
GROUP BY u.country, w.window_start, w.window_end;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_users: read csv /in/users (mode='FAILFAST', sep=',', quote='"', escape='"', recursiveFileLookup='true')
--   columns name STRING, country STRING
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
-- shown
SELECT country, CAST(__window.start AS TIMESTAMP_NTZ) AS window_start, n
FROM (
  SELECT u.country, w.__window, COUNT(*) AS n
  FROM (
    SELECT user_name, amount, ts, window(ts, '1 minute') AS __window
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
  ) AS w
  LEFT JOIN sqlext_users AS u ON u.name = w.user_name
  GROUP BY __window, u.country
);
