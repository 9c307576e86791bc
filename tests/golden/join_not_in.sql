-- what: NOT IN over a stream: an anti join for which NULL may be equal; what else WHERE says stays.
SELECT user_name, amount
FROM clicks AS c
WHERE amount > 1 AND user_name NOT IN (SELECT user_name FROM orders AS o WHERE o.id = c.amount) AND amount < 9;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_orders_2: readStream json /in/orders (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns id BIGINT, user_name STRING, price DECIMAL(10, 2), at TIMESTAMP
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT
  CAST(c.amount AS BIGINT) AS c0,
  CASE
    WHEN (amount > 1) AND (amount < 9) THEN true END AS c1,
  CAST(0 AS TINYINT) AS c2,
  c.user_name AS c3,
  c.amount AS c4,
  user_name AS c5,
  NULL AS c6
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
  CAST(o.id AS BIGINT) AS c0,
  true AS c1,
  CAST(1 AS TINYINT) AS c2,
  NULL AS c3,
  NULL AS c4,
  NULL AS c5,
  user_name AS c6
FROM (
  SELECT
    id,
    user_name,
    price,
    CASE
      WHEN `at` IS NULL THEN CAST(raise_error('[RUN-001] rowtime orders.at is NULL') AS TIMESTAMP)
      ELSE `at` END AS `at`
  FROM sqlext_orders_2
) AS o;
-- view sqlext_step_2: stateful function join over sqlext_step_1
-- shown
SELECT user_name, amount, __row_kind
FROM (
  SELECT __s1.user_name, __s1.amount, __s1.__row_kind
  FROM (
    SELECT user_name, amount, __row_kind
    FROM sqlext_step_2 AS __s1
  ) AS __s1
  WHERE (amount > 1) AND (amount < 9)
);
