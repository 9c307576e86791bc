-- what: the window's Top-N over a windowed aggregate, in one SELECT: QUALIFY, ordered by an aggregate.
SELECT window_start, window_end, user_name, SUM(amount) AS total,
  RANK() OVER (PARTITION BY window_start, window_end ORDER BY SUM(amount) DESC) AS r
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, user_name
QUALIFY r <= 2;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT
  unix_millis(__window.start) AS c0,
  unix_millis(__window.end) AS c1,
  __window AS c2,
  __g2 AS c3,
  __g3 AS c4,
  __in.__g3 AS c5
FROM (
  SELECT __g.__window, __g.__g2, __g.__g3
  FROM (
    SELECT
      __q0.__window,
      user_name AS __g2,
      CAST(shiftright(shiftleft(sum(amount), 32), 32) AS INT) AS __g3
    FROM (
      SELECT user_name, amount, ts, window(ts, '1 minute') AS __window
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
    GROUP BY __window, user_name
  ) AS __g
) AS __in;
-- view sqlext_step_2: stateful function rank over sqlext_step_1
-- shown
SELECT
  CAST(__window.start AS TIMESTAMP_NTZ) AS window_start,
  CAST(__window.end AS TIMESTAMP_NTZ) AS window_end,
  user_name,
  total,
  r
FROM (
  SELECT __in.__window, __in.__g2 AS user_name, __in.__g3 AS total, __in.__over_0 AS r
  FROM (
    SELECT __window, __g2, __g3, CAST(__number AS BIGINT) AS __over_0
    FROM sqlext_step_2
  ) AS __in
);
