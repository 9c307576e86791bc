-- what: Windows without aggregation.
SELECT user_name, amount, window_start, window_end
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
WHERE amount > 3;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- shown
SELECT
  user_name,
  amount,
  CAST(__window.start AS TIMESTAMP_NTZ) AS window_start,
  CAST(__window.end AS TIMESTAMP_NTZ) AS window_end
FROM (
  SELECT __q0.user_name, __q0.amount, __q0.__window
  FROM (
    SELECT user_name, amount, ts, window(ts, '1 minute') AS __window
    FROM (
      SELECT
        user_name,
        amount,
        CASE
          WHEN ts IS NULL THEN CAST(raise_error('[RUN-001] rowtime clicks.ts is NULL') AS TIMESTAMP)
          ELSE ts END AS ts
      FROM sqlext_clicks
    ) AS clicks
  ) AS __q0
  WHERE amount > 3
);
