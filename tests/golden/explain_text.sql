-- what: EXPLAIN as text.
-- output: text
SELECT u.country, w.window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) AS w
JOIN users AS u ON u.name = w.user_name
WHERE w.amount > 0
GROUP BY u.country, w.window_start, w.window_end;

SELECT user_name, MAX(amount) AS most FROM clicks GROUP BY user_name;

-- becomes
path:            native (every step has an operator of Spark that gives the same rows)
mode:            streaming
result:          append
time attributes: none
watermark:       clicks.ts: largest value - 5000 ms
Aggregate(by window, u.country; emitted when the watermark passes the window)
  Join(INNER on u.name = w.user_name)
    AssignWindows(TUMBLE(60000 ms) on ts)
      Scan(default_catalog.default_database.clicks (filesystem, stream))
    Scan(default_catalog.default_database.users (filesystem, snapshot))

Spark SQL:
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
  INNER JOIN sqlext_users AS u ON u.name = w.user_name
  WHERE w.amount > 0
  GROUP BY __window, u.country
)

path:            native (every step has an operator of Spark that gives the same rows)
mode:            streaming
result:          update, by key (user_name)
time attributes: none
watermark:       clicks.ts: largest value - 5000 ms
unbounded state: GROUP BY user_name without a window
Aggregate(by user_name)  [update, by key (user_name)]
  Scan(default_catalog.default_database.clicks (filesystem, stream))

Spark SQL:
SELECT user_name, most, __key_0, __exists
FROM (
  SELECT user_name, MAX(amount) AS most, user_name AS __key_0, true AS __exists
  FROM (
    SELECT
      user_name,
      amount,
      CASE
        WHEN ts IS NULL THEN CAST(raise_error('[RUN-001] rowtime clicks.ts is NULL') AS TIMESTAMP)
        ELSE ts END AS ts
    FROM sqlext_clicks
  ) AS clicks
  GROUP BY user_name
)
