-- what: Days of a zone's wall clock, which Spark's window() does not know.
SET 'table.local-time-zone' = 'America/New_York';

SELECT window_start, window_end, SUM(price) AS price
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(at), INTERVAL '1' DAY))
GROUP BY window_start, window_end;

-- becomes
-- view sqlext_orders: readStream json /in/orders (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns id BIGINT, user_name STRING, price DECIMAL(10, 2), at TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
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
    FROM (
      SELECT id, user_name, price, `at`
      FROM (
        SELECT *, spark_partition_id() >= 0 AS __seen
        FROM (
          SELECT
            id,
            user_name,
            price,
            CASE
              WHEN `at` IS NULL THEN CAST(raise_error('[RUN-001] rowtime orders.at is NULL') AS TIMESTAMP)
              WHEN `at` < TIMESTAMP '1970-01-01 00:00:00Z' THEN CAST(raise_error('[RUN-002] rowtime orders.at lies before 1970, where Spark\'s watermark begins') AS TIMESTAMP)
              ELSE `at` END AS `at`,
            CAST(NULL AS STRING) AS __heartbeat
          FROM sqlext_orders
          UNION ALL
          SELECT NULL, NULL, NULL, CAST(value AS TIMESTAMP), value
          FROM sqlext_heartbeat
        ) WATERMARK `at` DELAY OF INTERVAL '60' SECOND
      )
      WHERE __seen AND __heartbeat IS NULL
    ) AS orders
  )
);
-- view sqlext_step_2: sqlext_step_1 with column __window marked as event time
-- shown
SELECT __window.wall_start AS window_start, __window.wall_end AS window_end, price
FROM (
  SELECT __q0.__window, CAST(sum(price) AS DECIMAL(38, 2)) AS price
  FROM sqlext_step_2 AS __q0
  GROUP BY __window
);
