-- what: An hour of TIMESTAMP_LTZ by the wall clock of Berlin, and a TIMESTAMP rowtime beside it.
SET 'table.local-time-zone' = 'Europe/Berlin';

SELECT window_start, window_end, window_time, SUM(price) AS price
FROM TABLE(HOP(TABLE orders, DESCRIPTOR(at), INTERVAL '30' MINUTE, INTERVAL '1' HOUR))
GROUP BY window_start, window_end, window_time;

SELECT window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR))
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
  named_struct('start', to_utc_timestamp(timestamp_millis(__start), 'Europe/Berlin'), 'end', CASE WHEN from_utc_timestamp((to_utc_timestamp(timestamp_millis((__start + 3600000L)), 'Europe/Berlin') + INTERVAL 1 HOUR), 'Europe/Berlin') = timestamp_millis((__start + 3600000L)) THEN (to_utc_timestamp(timestamp_millis((__start + 3600000L)), 'Europe/Berlin') + INTERVAL 1 HOUR) ELSE to_utc_timestamp(timestamp_millis((__start + 3600000L)), 'Europe/Berlin') END, 'wall_start', timestampadd(MILLISECOND, __start, TIMESTAMP_NTZ '1970-01-01 00:00:00'), 'wall_end', timestampadd(MILLISECOND, __start + 3600000L, TIMESTAMP_NTZ '1970-01-01 00:00:00')) AS __window
FROM (
  SELECT
    id,
    user_name,
    price,
    `at`,
    __ms,
    explode(filter(sequence((__ms - pmod(__ms - 0L, 1800000L)) - 1800000L, (__ms - pmod(__ms - 0L, 1800000L)), 1800000L), s -> s > __ms - 3600000L)) AS __start
  FROM (
    SELECT id, user_name, price, `at`, unix_millis(from_utc_timestamp(`at`, 'Europe/Berlin')) AS __ms
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
SELECT
  __window.wall_start AS window_start,
  __window.wall_end AS window_end,
  (__window.end - INTERVAL '0.001' SECOND) AS window_time,
  price
FROM (
  SELECT __q0.__window, CAST(sum(price) AS DECIMAL(38, 2)) AS price
  FROM sqlext_step_2 AS __q0
  GROUP BY __window
);

-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
-- shown
SELECT
  timestampadd(MICROSECOND, unix_micros(__window.start), TIMESTAMP_NTZ '1970-01-01 00:00:00') AS window_start,
  n
FROM (
  SELECT __q0.__window, COUNT(*) AS n
  FROM (
    SELECT user_name, amount, ts, window(ts, '1 hour') AS __window
    FROM (
      SELECT user_name, amount, ts
      FROM (
        SELECT *, spark_partition_id() >= 0 AS __seen
        FROM (
          SELECT
            user_name,
            amount,
            CASE
              WHEN ts IS NULL THEN CAST(raise_error('[RUN-001] rowtime clicks.ts is NULL') AS TIMESTAMP)
              WHEN ts < TIMESTAMP '1970-01-01 00:00:00Z' THEN CAST(raise_error('[RUN-002] rowtime clicks.ts lies before 1970, where Spark\'s watermark begins') AS TIMESTAMP)
              ELSE ts END AS ts,
            CAST(NULL AS STRING) AS __heartbeat
          FROM sqlext_clicks
          UNION ALL
          SELECT NULL, NULL, CAST(value AS TIMESTAMP), value
          FROM sqlext_heartbeat
        ) WATERMARK ts DELAY OF INTERVAL '5' SECOND
      )
      WHERE __seen AND __heartbeat IS NULL
    ) AS clicks
  ) AS __q0
  GROUP BY __window
);
