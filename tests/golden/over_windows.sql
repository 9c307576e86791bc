-- what: OVER by a window of time: rows wait in an operator until their window is over.
SELECT user_name, window_end, NTILE(4) OVER (w ORDER BY amount DESC) AS quarter, PERCENT_RANK() OVER (w ORDER BY amount) AS `percent`,
  SUM(amount) OVER w AS total
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
WINDOW w AS (PARTITION BY window_start, window_end);

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT
  unix_millis(__window.start) AS c0,
  unix_millis(__window.end) AS c1,
  amount AS c2,
  user_name AS c3,
  __window AS c4
FROM (
  SELECT __q0.user_name, __q0.amount, __q0.__window
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
) AS __in;
-- view sqlext_step_2: stateful function window_over over sqlext_step_1
-- shown
SELECT user_name, CAST(__window.end AS TIMESTAMP_NTZ) AS window_end, `quarter`, `percent`, total
FROM (
  SELECT
    __in.user_name,
    __in.__window,
    __in.__over_0 AS `quarter`,
    __in.__over_1 AS `percent`,
    __in.__over_2 AS total
  FROM (
    SELECT
      user_name,
      amount,
      __window,
      __o0_0 AS __over_0,
      __o1_0 AS __over_1,
      (CAST(shiftright(shiftleft(__o2_0, 32), 32) AS INT)) AS __over_2
    FROM sqlext_step_2 AS __in
  ) AS __in
);
