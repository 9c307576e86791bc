-- what: EXPLAIN of operators over changelogs: what each is, and how its state ends.
-- output: text
SELECT country, n FROM (
  SELECT country, n, ROW_NUMBER() OVER (ORDER BY n DESC) AS rn
  FROM (SELECT u.country, COUNT(*) AS n FROM clicks AS c JOIN users AS u ON c.user_name = u.name GROUP BY u.country)
) WHERE rn <= 5;

-- becomes
path:            stateful (Top-5, GROUP BY whose changes are read on: Spark has no operator that gives these rows)
mode:            streaming
result:          changelog
time attributes: none
watermark:       clicks.ts: largest value - 5000 ms
unbounded state: Top-5
unbounded state: GROUP BY u.country without a window
stateful:        GROUP BY u.country: GROUP BY whose changes are read on
  EMIT:          by default
  panes:         several for a key and window, and the rows that take them back
  sink:          to the step above
  late rows:     none
Project(country, n)  [changelog]
  Project(country, n, rn)  [changelog]
    Rank(Top-5; state: kept for ever)  [changelog]
      Project(country, n)  [changelog]
        Aggregate(by u.country)  [changelog]
          Join(INNER on c.user_name = u.name)
            Scan(default_catalog.default_database.clicks (filesystem, stream))
            Scan(default_catalog.default_database.users (filesystem, snapshot))

Spark SQL:
SELECT country, n, __row_kind
FROM (
  SELECT __q0.country, __q0.n, __q0.__row_kind
  FROM (
    SELECT __in.country, __in.n, __in.__over_0 AS rn, __in.__row_kind
    FROM (
      SELECT country, n, CAST(__number AS BIGINT) AS __over_0, __row_kind
      FROM sqlext_step_5
    ) AS __in
  ) AS __q0
)
