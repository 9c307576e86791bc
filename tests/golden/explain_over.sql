-- what: what an OVER keeps: partial results of each key, rows, or rows of a time.
-- output: text
SELECT MAX(amount) OVER (PARTITION BY user_name ORDER BY ts), SUM(amount) OVER (PARTITION BY user_name ORDER BY ts ROWS 2 PRECEDING)
FROM clicks;

-- becomes
path:            stateful (OVER by user_name in the order of ts: Spark has no operator that gives these rows)
mode:            streaming
result:          append
time attributes: none
watermark:       clicks.ts: largest value - 5000 ms
unbounded state: OVER by user_name in the order of ts
Project(EXPR$0, EXPR$1)
  Over(OVER by user_name in the order of ts; state: partial results of each key, 2 rows of each key)
    Project(user_name, amount, ts)
      Scan(default_catalog.default_database.clicks (filesystem, stream))

Spark SQL:
SELECT `EXPR$0`, `EXPR$1`
FROM (
  SELECT __in.__over_0 AS `EXPR$0`, __in.__over_1 AS `EXPR$1`
  FROM (
    SELECT
      user_name,
      amount,
      ts,
      __a0 AS __over_0,
      (CAST(shiftright(shiftleft(__a1, 32), 32) AS INT)) AS __over_1
    FROM sqlext_step_2 AS __in
  ) AS __in
)
