-- what: a sub-query over a stream in HAVING: joined to the groups.
SELECT user_name, COUNT(*) AS n FROM clicks GROUP BY user_name HAVING COUNT(*) > (SELECT MAX(id) FROM orders);

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_orders: readStream json /in/orders (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns id BIGINT, user_name STRING, price DECIMAL(10, 2), at TIMESTAMP
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT user_name AS c0
FROM (
  SELECT
    user_name,
    amount,
    CASE
      WHEN ts IS NULL THEN CAST(raise_error('[RUN-001] rowtime clicks.ts is NULL') AS TIMESTAMP)
      ELSE ts END AS ts
  FROM sqlext_clicks
) AS clicks;
-- view sqlext_step_2: stateful function window over sqlext_step_1
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_3 AS
SELECT __k0, __a0, __row_kind
FROM sqlext_step_2;
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_4 AS
SELECT id AS c0
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
-- view sqlext_step_5: stateful function window over sqlext_step_4
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_6 AS
SELECT __a0, __row_kind
FROM sqlext_step_5;
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_7 AS
SELECT CAST(0 AS TINYINT) AS c0, __g.__g0 AS c1, __g.__g1 AS c2, NULL AS c3, __row_kind AS c4
FROM (
  SELECT __k0 AS __g0, __a0 AS __g1, __k0 AS __key_0, __row_kind
  FROM sqlext_step_3
) AS __g
UNION ALL
SELECT CAST(1 AS TINYINT) AS c0, NULL AS c1, NULL AS c2, __v0.`EXPR$0` AS c3, __row_kind AS c4
FROM (
  SELECT __a0 AS `EXPR$0`, __row_kind
  FROM sqlext_step_6
) AS __v0;
-- view sqlext_step_8: stateful function join over sqlext_step_7
-- shown
SELECT user_name, n, __row_kind
FROM (
  SELECT __x0.__g0 AS user_name, __x0.__g1 AS n, __x0.__row_kind
  FROM (
    SELECT __w0.`EXPR$0` AS __value0, __w0.__g0, __w0.__g1, __w0.__row_kind
    FROM (
      SELECT __g0, __g1, `EXPR$0`, __row_kind
      FROM sqlext_step_8 AS __w0
    ) AS __w0
  ) AS __x0
  WHERE __x0.__g1 > __x0.__value0
);
