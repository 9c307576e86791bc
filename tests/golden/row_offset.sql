-- what: An offset of each row: SQL makes the windows. Spark keeps them; under EMIT the operator is given their bounds.
SELECT user_name, window_start, COUNT(*) AS n
FROM TABLE(CUMULATE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '6' HOUR, INTERVAL '1' DAY, amount * INTERVAL '1' HOUR))
GROUP BY user_name, amount, window_start, window_end;

SELECT user_name, window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' DAY, amount))
GROUP BY user_name, amount, window_start, window_end
EMIT AFTER WATERMARK EARLY EVERY ROW;

EXPLAIN SELECT user_name, window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MONTH, amount * INTERVAL '1' DAY))
GROUP BY user_name, amount, window_start, window_end;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT
  user_name,
  amount,
  ts,
  named_struct('start', timestamp_millis(__start), 'end', timestamp_millis(__end), 'wall_start', timestampadd(MILLISECOND, __start, TIMESTAMP_NTZ '1970-01-01 00:00:00'), 'wall_end', timestampadd(MILLISECOND, __end, TIMESTAMP_NTZ '1970-01-01 00:00:00')) AS __window
FROM (
  SELECT
    user_name,
    amount,
    ts,
    __offset,
    __ms,
    __start,
    explode(sequence((__ms - pmod(__ms - __offset, 21600000L) + 21600000L), __start + 86400000L, 21600000L)) AS __end
  FROM (
    SELECT user_name, amount, ts, __offset, __ms, (__ms - pmod(__ms - __offset, 86400000L)) AS __start
    FROM (
      SELECT
        user_name,
        amount,
        ts,
        CASE
          WHEN __offset IS NOT NULL THEN __offset
          ELSE CAST(raise_error('[RUN-092] the offset of a row\'s windows is NULL') AS BIGINT) END AS __offset,
        unix_millis(ts) AS __ms
      FROM (
        SELECT user_name, amount, ts, CAST(amount AS BIGINT) * 3600000L AS __offset
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
      )
    )
  )
);
-- view sqlext_step_2: sqlext_step_1 with column __window marked as event time
-- shown
SELECT user_name, CAST(__window.start AS TIMESTAMP_NTZ) AS window_start, n
FROM (
  SELECT user_name, __q0.__window, COUNT(*) AS n
  FROM sqlext_step_2 AS __q0
  GROUP BY __window, user_name, amount
);

-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT
  user_name,
  amount,
  ts,
  named_struct('start', timestamp_millis(__start), 'end', timestamp_millis((__start + 86400000L)), 'wall_start', timestampadd(MILLISECOND, __start, TIMESTAMP_NTZ '1970-01-01 00:00:00'), 'wall_end', timestampadd(MILLISECOND, __start + 86400000L, TIMESTAMP_NTZ '1970-01-01 00:00:00')) AS __window
FROM (
  SELECT
    user_name,
    amount,
    ts,
    __offset,
    __ms,
    explode(array((__ms - pmod(__ms - __offset, 86400000L)))) AS __start
  FROM (
    SELECT
      user_name,
      amount,
      ts,
      CASE
        WHEN __offset IS NOT NULL THEN __offset
        ELSE CAST(raise_error('[RUN-092] the offset of a row\'s windows is NULL') AS BIGINT) END AS __offset,
      unix_millis(ts) AS __ms
    FROM (
      SELECT user_name, amount, ts, CAST(amount AS BIGINT) AS __offset
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
    )
  )
);
-- view sqlext_step_2: sqlext_step_1 with column __window marked as event time
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_3 AS
SELECT
  user_name AS c0,
  amount AS c1,
  __window.wall_start AS c2,
  __window.wall_end AS c3,
  unix_millis(__window.start) AS c4,
  unix_millis(__window.end) AS c5
FROM sqlext_step_2 AS __q0;
-- view sqlext_step_4: stateful function window over sqlext_step_3
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_5 AS
SELECT
  __k0,
  __k1,
  __start,
  __end,
  __a0,
  named_struct('start', timestamp_millis(__start), 'end', timestamp_millis(__end), 'wall_start', __wall_start, 'wall_end', __wall_end) AS __window
FROM sqlext_step_4;
-- view sqlext_step_6: sqlext_step_5 with column __window marked as event time
-- shown
SELECT
  user_name,
  CAST(__window.start AS TIMESTAMP_NTZ) AS window_start,
  n,
  __key_0,
  __key_1,
  __key_start,
  __key_end,
  __exists
FROM (
  SELECT
    __k0 AS user_name,
    __window,
    __a0 AS n,
    __k0 AS __key_0,
    __k1 AS __key_1,
    __start AS __key_start,
    __end AS __key_end,
    true AS __exists
  FROM sqlext_step_6
);
