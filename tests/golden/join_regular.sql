-- what: A regular join: the union of both sides goes in, keys in the same columns; conditions of one side are filters.
SELECT c.user_name, o.price, c.ts
FROM clicks AS c LEFT JOIN orders AS o
ON c.user_name = o.user_name AND c.amount < o.price AND c.amount > 1 AND o.id <> 7;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_orders: readStream json /in/orders (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns id BIGINT, user_name STRING, price DECIMAL(10, 2), at TIMESTAMP
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT
  c.user_name AS c0,
  CASE
    WHEN (c.amount > 1) THEN true END AS c1,
  CAST(0 AS TINYINT) AS c2,
  c.user_name AS c3,
  CAST(c.ts AS TIMESTAMP_NTZ) AS c4,
  NULL AS c5,
  NULL AS c6,
  CAST(c.amount AS DECIMAL(12, 2)) AS c7,
  NULL AS c8
FROM (
  SELECT
    user_name,
    amount,
    CASE
      WHEN ts IS NULL THEN CAST(raise_error('[RUN-001] rowtime clicks.ts is NULL') AS TIMESTAMP)
      ELSE ts END AS ts
  FROM sqlext_clicks
) AS c
UNION ALL
SELECT
  o.user_name AS c0,
  true AS c1,
  CAST(1 AS TINYINT) AS c2,
  NULL AS c3,
  NULL AS c4,
  o.user_name AS c5,
  o.price AS c6,
  NULL AS c7,
  CAST(o.price AS DECIMAL(12, 2)) AS c8
FROM (
  SELECT
    id,
    user_name,
    price,
    CASE
      WHEN `at` IS NULL THEN CAST(raise_error('[RUN-001] rowtime orders.at is NULL') AS TIMESTAMP)
      ELSE `at` END AS `at`
  FROM sqlext_orders
) AS o
WHERE (o.id <> 7);
-- view sqlext_step_2: stateful function join over sqlext_step_1
-- shown
SELECT user_name, price, ts, __row_kind
FROM (
  SELECT __j1.user_name, __j1.price, __j1.ts, __j1.__row_kind
  FROM (
    SELECT user_name, ts, user_name_1, price, __row_kind
    FROM sqlext_step_2 AS __j1
  ) AS __j1
);
