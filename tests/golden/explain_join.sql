-- what: EXPLAIN of a join of streams says what it keeps.
-- output: text
SELECT c.user_name, d.amount
FROM clicks AS c LEFT JOIN clicks AS d
ON c.user_name = d.user_name AND d.ts BETWEEN c.ts AND c.ts + INTERVAL '1' HOUR;

-- becomes
path:            stateful (LEFT interval join by c.user_name = d.user_name: Spark has no operator that gives these rows)
mode:            streaming
result:          append
time attributes: none
watermark:       clicks.ts: largest value - 5000 ms
watermark:       clicks.ts: largest value - 5000 ms
Project(user_name, amount)
  StreamJoin(LEFT interval join by c.user_name = d.user_name; state: left rows for 3600000 ms of event time, right rows for 0 ms of event time)
    Scan(default_catalog.default_database.clicks (filesystem, stream))
    Scan(default_catalog.default_database.clicks (filesystem, stream))

Spark SQL:
SELECT user_name, amount
FROM (
  SELECT __j1.user_name, __j1.amount_1 AS amount
  FROM (
    SELECT user_name, amount, user_name_1, amount_1
    FROM sqlext_step_2 AS __j1
  ) AS __j1
)
