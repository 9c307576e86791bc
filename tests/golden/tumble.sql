-- what: A tumbling window with an offset, WHERE, HAVING, FILTER and window_time.
SELECT user_name, window_start, window_end, window_time, SUM(amount) FILTER (WHERE amount > 0) AS total
FROM TABLE(TUMBLE(DATA => TABLE clicks, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '10' MINUTES, `OFFSET` => INTERVAL '1' MINUTE))
WHERE user_name <> 'x'
GROUP BY user_name, window_start, window_end, window_time
HAVING COUNT(*) > 1;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
-- shown
SELECT
  user_name,
  CAST(__window.start AS TIMESTAMP_NTZ) AS window_start,
  CAST(__window.end AS TIMESTAMP_NTZ) AS window_end,
  CAST((__window.end - INTERVAL '0.001' SECOND) AS TIMESTAMP_NTZ) AS window_time,
  total
FROM (
  SELECT
    user_name,
    __q0.__window,
    CAST(shiftright(shiftleft(sum(amount) FILTER (WHERE amount > 0), 32), 32) AS INT) AS total
  FROM (
    SELECT user_name, amount, ts, window(ts, '10 minutes', '10 minutes', '1 minute') AS __window
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
  WHERE user_name <> 'x'
  GROUP BY __window, user_name
  HAVING COUNT(*) > 1
);
