-- what: EXCEPT of streams: a grouping by all columns that counts each side.
SELECT user_name FROM clicks EXCEPT SELECT user_name FROM orders;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_orders: readStream json /in/orders (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns id BIGINT, user_name STRING, price DECIMAL(10, 2), at TIMESTAMP
-- shown
SELECT c0 AS user_name, __key_0, __exists
FROM (
  SELECT
    c0,
    c0 AS __key_0,
    COUNT(*) FILTER (WHERE side = 0) > 0 AND COUNT(*) FILTER (WHERE side = 1) = 0 AS __exists
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
  ) AS __set
  GROUP BY c0
);
