-- what: The same words with Spark's meaning: the user's text is left as it is.
-- mode: spark
SELECT user_name, window_start, SUM(amount / 2) AS half
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL 10 MINUTES))
GROUP BY user_name, window_start, window_end;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
-- shown
SELECT user_name, CAST(__window.start AS TIMESTAMP_NTZ) AS window_start, half
FROM (
  SELECT user_name, __q0.__window, SUM(amount / 2) AS half
  FROM (
    SELECT user_name, amount, ts, window(ts, '10 minutes') AS __window
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
  GROUP BY __window, user_name
);
