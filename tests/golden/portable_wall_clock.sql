-- what: The batch form of a cascade over days of a zone.
-- output: spark-sql
SET 'table.local-time-zone' = 'America/New_York';

SELECT window_start, window_end, SUM(price) AS price
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(at), INTERVAL '1' DAY))
GROUP BY window_start, window_end;

-- becomes
SET spark.sql.session.timeZone=America/New_York;
SET spark.sql.ansi.enabled=true;
SET spark.sql.caseSensitive=true;
CREATE OR REPLACE TEMPORARY VIEW sqlext_orders_raw (id BIGINT, user_name STRING, price DECIMAL(10, 2), `at` TIMESTAMP) USING json OPTIONS ('mode' 'FAILFAST', 'timeZone' 'UTC', 'recursiveFileLookup' 'true', 'path' '/in/orders');
CREATE OR REPLACE TEMPORARY VIEW sqlext_orders AS SELECT id, user_name, price, `at` FROM sqlext_orders_raw;
SELECT __window.wall_start AS window_start, __window.wall_end AS window_end, price
FROM (
  SELECT __q0.__window, CAST(sum(price) AS DECIMAL(38, 2)) AS price
  FROM (
    SELECT
      id,
      user_name,
      price,
      `at`,
      named_struct('start', to_utc_timestamp(timestamp_millis(__start), 'America/New_York'), 'end', CASE WHEN from_utc_timestamp((to_utc_timestamp(timestamp_millis((__start + 86400000L)), 'America/New_York') + INTERVAL 1 HOUR), 'America/New_York') = timestamp_millis((__start + 86400000L)) THEN (to_utc_timestamp(timestamp_millis((__start + 86400000L)), 'America/New_York') + INTERVAL 1 HOUR) ELSE to_utc_timestamp(timestamp_millis((__start + 86400000L)), 'America/New_York') END, 'wall_start', timestampadd(MILLISECOND, __start, TIMESTAMP_NTZ '1970-01-01 00:00:00'), 'wall_end', timestampadd(MILLISECOND, __start + 86400000L, TIMESTAMP_NTZ '1970-01-01 00:00:00')) AS __window
    FROM (
      SELECT
        id,
        user_name,
        price,
        `at`,
        __ms,
        explode(array((__ms - pmod(__ms - 0L, 86400000L)))) AS __start
      FROM (
        SELECT
          id,
          user_name,
          price,
          `at`,
          unix_millis(from_utc_timestamp(`at`, 'America/New_York')) AS __ms
        FROM sqlext_orders AS orders
      )
    )
  ) AS __q0
  GROUP BY __window
);
