-- what: EXPLAIN says who reads a table, and why.
-- source: arrow
-- output: text
SELECT user_name, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY user_name, window_start, window_end;
SELECT MD5(user_name) AS who, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY MD5(user_name), window_start, window_end;

-- becomes
path:            stateful (Arrow combines the rows of clicks where it reads them)
mode:            streaming
result:          append
time attributes: none
watermark:       clicks.ts: largest value - 5000 ms
Aggregate(by window, user_name; emitted when the watermark passes the window)
  AssignWindows(TUMBLE(60000 ms) on ts)
    Scan(default_catalog.default_database.clicks (filesystem, stream))

Sources:
  clicks: Arrow reads user_name, ts; rows are combined by key and slice where they are read, all in one batch without state

Spark SQL:
SELECT user_name, n
FROM (
  SELECT __k0 AS user_name, __a0 AS n
  FROM sqlext_step_5
)

path:            native (every step has an operator of Spark that gives the same rows)
mode:            streaming
result:          append
time attributes: none
watermark:       clicks.ts: largest value - 5000 ms
Aggregate(by window, MD5(user_name); emitted when the watermark passes the window)
  AssignWindows(TUMBLE(60000 ms) on ts)
    Scan(default_catalog.default_database.clicks (filesystem, stream))

Sources:
  clicks: Spark reads it: Arrow is not known to do the same: `MD5(user_name)`

Spark SQL:
SELECT who, n
FROM (
  SELECT MD5(user_name) AS who, COUNT(*) AS n
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
  ) AS __q0
  GROUP BY __window, MD5(user_name)
)
