-- what: EXPLAIN says why a grouping is stateful and how its panes come out.
-- output: text
SELECT user_name, COUNT(*) AS n
FROM clicks
GROUP BY user_name
EMIT EVERY 3 ROWS DISCARDING;

-- becomes
path:            stateful (EMIT AFTER COUNT DISCARDING: Spark has no operator that gives these rows)
mode:            streaming
result:          append
time attributes: none
watermark:       clicks.ts: largest value - 5000 ms
unbounded state: GROUP BY user_name without a window
stateful:        GROUP BY user_name: EMIT AFTER COUNT DISCARDING
  EMIT:          EVERY 3 ROWS DISCARDING
  panes:         several for a key and window, each a row of its own
  sink:          shown
  late rows:     none
Aggregate(by user_name)
  Scan(default_catalog.default_database.clicks (filesystem, stream))

Spark SQL:
SELECT user_name, n
FROM (
  SELECT __k0 AS user_name, __a0 AS n
  FROM sqlext_step_3
)
