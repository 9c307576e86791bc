-- what: UNNEST: a generator of Spark beside the row, LEFT JOIN as the outer one; the rowtime stays one.
SELECT user_name, ts, w, i, k
FROM clicks
LEFT JOIN UNNEST(SPLIT(user_name, ' ')) WITH ORDINALITY AS t (w, i) ON TRUE
JOIN UNNEST(MAP[w, amount]) AS m (k, v) ON v > 1;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- shown
SELECT user_name, CAST(ts AS TIMESTAMP_NTZ) AS ts, w, i, k
FROM (
  SELECT __l0.user_name, __l0.ts, __l0.w, __l0.i, __l0.k
  FROM (
    SELECT clicks.user_name, clicks.amount, clicks.ts, t.w, t.i, m.k, m.v
    FROM (
      SELECT
        user_name,
        amount,
        CASE
          WHEN ts IS NULL THEN CAST(raise_error('[RUN-001] rowtime clicks.ts is NULL') AS TIMESTAMP)
          ELSE ts END AS ts
      FROM sqlext_clicks
    ) AS clicks
    CROSS JOIN LATERAL (
      SELECT __value, __place + 1
      FROM posexplode_outer(CASE WHEN user_name = '' THEN CAST(array() AS ARRAY<STRING>) ELSE split(user_name, ' ') END) AS __e(__place, __value)
    ) AS t(w, i)
    CROSS JOIN LATERAL explode(map(w, amount)) AS m(k, v)
    WHERE v > 1
  ) AS __l0
);
