-- what: ORDER BY and LIMIT in LATERAL: the first rows of each key are joined to the left side.
SELECT k.user_name, l.amount
FROM (SELECT DISTINCT user_name FROM orders) AS k,
  LATERAL (SELECT amount FROM clicks WHERE user_name = k.user_name AND amount > 0 ORDER BY amount DESC LIMIT 3) AS l;

-- becomes
-- view sqlext_orders: readStream json /in/orders (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns id BIGINT, user_name STRING, price DECIMAL(10, 2), at TIMESTAMP
-- view sqlext_clicks_2: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT orders.user_name
FROM (
  SELECT
    id,
    user_name,
    price,
    CASE
      WHEN `at` IS NULL THEN CAST(raise_error('[RUN-001] rowtime orders.at is NULL') AS TIMESTAMP)
      ELSE `at` END AS `at`
  FROM sqlext_orders
) AS orders;
-- view sqlext_step_2: stateful function distinct over sqlext_step_1
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_3 AS
SELECT __n1.user_name AS c0, user_name AS c1, amount AS c2
FROM (
  SELECT clicks.user_name, clicks.amount
  FROM (
    SELECT
      user_name,
      amount,
      CASE
        WHEN ts IS NULL THEN CAST(raise_error('[RUN-001] rowtime clicks.ts is NULL') AS TIMESTAMP)
        ELSE ts END AS ts
    FROM sqlext_clicks_2
  ) AS clicks
  WHERE (amount > 0)
) AS __n1;
-- view sqlext_step_4: stateful function rank over sqlext_step_3
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_5 AS
SELECT
  k.user_name AS c0,
  CAST(0 AS TINYINT) AS c1,
  k.user_name AS c2,
  NULL AS c3,
  NULL AS c4,
  CAST(0 AS TINYINT) AS c5
FROM sqlext_step_2 AS k
UNION ALL
SELECT
  __n1.user_name AS c0,
  CAST(1 AS TINYINT) AS c1,
  NULL AS c2,
  __n1.user_name AS c3,
  __n1.amount AS c4,
  __row_kind AS c5
FROM (
  SELECT user_name, amount, CAST(__number AS BIGINT) AS __number, __row_kind
  FROM sqlext_step_4
) AS __n1;
-- view sqlext_step_6: stateful function join over sqlext_step_5
-- shown
SELECT user_name, amount, __row_kind
FROM (
  SELECT __l0.user_name, __l0.amount, __l0.__row_kind
  FROM (
    SELECT __j1.user_name, __j1.amount, __j1.__row_kind
    FROM (
      SELECT user_name, user_name_1, amount, __row_kind
      FROM sqlext_step_6 AS __j1
    ) AS __j1
    WHERE (__j1.user_name_1 = __j1.user_name)
  ) AS __l0
);
