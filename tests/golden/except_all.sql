-- what: EXCEPT ALL of streams: each group's row as often as the first side has it more than the second.
SELECT user_name FROM clicks EXCEPT ALL SELECT user_name FROM orders;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_orders: readStream json /in/orders (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns id BIGINT, user_name STRING, price DECIMAL(10, 2), at TIMESTAMP
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT c0 AS c0, CASE WHEN side = 0 THEN 1 END AS c1, CASE WHEN side = 1 THEN 1 END AS c2
FROM (
  (
    SELECT c0, side
    FROM (
      SELECT __set.user_name AS c0, 0 AS side
      FROM (
        SELECT clicks.user_name
        FROM (
          SELECT
            user_name,
            amount,
            CASE
              WHEN ts IS NULL THEN CAST(raise_error('[RUN-001] rowtime clicks.ts is NULL') AS TIMESTAMP)
              ELSE ts END AS ts
          FROM sqlext_clicks
        ) AS clicks
      ) AS __set
    )
  )
  UNION ALL
  (
    SELECT c0, side
    FROM (
      SELECT __set.user_name AS c0, 1 AS side
      FROM (
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
        ) AS orders
      ) AS __set
    )
  )
) AS __set;
-- view sqlext_step_2: stateful function window over sqlext_step_1
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_3 AS
SELECT __k0, __a0, __a1, __row_kind
FROM sqlext_step_2;
-- shown
SELECT c0 AS user_name, __row_kind
FROM (
  SELECT __set.c0, __set.__row_kind
  FROM (
    SELECT c0, copies, __copy, __row_kind
    FROM (
      SELECT
        __k0 AS c0,
        greatest(coalesce(try_subtract(__a0, __a1), CAST(pmod(CAST(__a0 AS DECIMAL(20, 0)) - CAST(__a1 AS DECIMAL(20, 0)) + 9223372036854775808, 18446744073709551616) - 9223372036854775808 AS BIGINT)), 0) AS copies,
        __k0 AS __key_0,
        __row_kind
      FROM sqlext_step_3
    ) AS __set
    CROSS JOIN LATERAL explode(ARRAY_REPEAT(1, CAST(copies AS INT))) AS __copies(__copy)
  ) AS __set
);
