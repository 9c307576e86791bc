-- what: EXPLAIN names what is unnested; an updating result below comes as a changelog.
-- output: text
SELECT user_name, x
FROM (SELECT user_name, COUNT(*) AS n FROM clicks GROUP BY user_name) CROSS JOIN UNNEST(ARRAY[n, 0]) AS t (x);

-- becomes
path:            stateful (GROUP BY whose changes are read on: Spark has no operator that gives these rows)
mode:            streaming
result:          changelog
time attributes: none
watermark:       clicks.ts: largest value - 5000 ms
unbounded state: GROUP BY user_name without a window
stateful:        GROUP BY user_name: GROUP BY whose changes are read on
  EMIT:          by default
  panes:         several for a key and window, and the rows that take them back
  sink:          shown
  late rows:     none
Project(user_name, x)  [changelog]
  Unnested(UNNEST(ARRAY[n, 0]))  [changelog]
    Aggregate(by user_name)  [changelog]
      Scan(default_catalog.default_database.clicks (filesystem, stream))

Spark SQL:
SELECT user_name, `x`, __row_kind
FROM (
  SELECT __q0.user_name, t.`x`, __row_kind
  FROM (
    SELECT __k0 AS user_name, __a0 AS n, __k0 AS __key_0, __row_kind
    FROM sqlext_step_3
  ) AS __q0
  CROSS JOIN LATERAL explode(array(n, 0)) AS t(`x`)
)
