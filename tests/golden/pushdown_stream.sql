-- what: rows read and combined by Arrow that stay a stream: a window fires early; marks stand in for the rows' times.
-- source: arrow
SELECT user_name, window_start, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
WHERE ts >= TIMESTAMP '2024-01-01 00:00:00' GROUP BY user_name, window_start, window_end
EMIT AFTER WATERMARK EARLY EVERY ROW;

-- becomes
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
-- view sqlext_step_1: of clicks Arrow reads user_name, amount, ts; rows are combined by key and slice where they are read
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_2 AS
SELECT bucket, rows, now
FROM (
  SELECT `bucket`, `rows`, now, `read`, times, mark, least
  FROM (
    SELECT *, spark_partition_id() >= 0 AS __seen
    FROM (
      SELECT
        `bucket`,
        `rows`,
        now,
        `read`,
        times,
        CASE
          WHEN mark < TIMESTAMP '1970-01-01 00:00:00Z' THEN CAST(raise_error('[RUN-002] rowtime clicks.mark lies before 1970, where Spark\'s watermark begins') AS TIMESTAMP)
          ELSE mark END AS mark,
        least,
        CAST(NULL AS STRING) AS __heartbeat
      FROM sqlext_step_1
      UNION ALL
      SELECT NULL, NULL, NULL, NULL, NULL, CAST(value AS TIMESTAMP), NULL, value
      FROM sqlext_heartbeat
    ) WATERMARK mark DELAY OF INTERVAL '5' SECOND
  )
  WHERE __seen AND __heartbeat IS NULL
);
-- view sqlext_step_3: stateful function window over sqlext_step_2
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_4 AS
SELECT
  __k0,
  __start,
  __end,
  __a0,
  named_struct('start', timestamp_millis(__start), 'end', timestamp_millis(__end)) AS __window
FROM sqlext_step_3;
-- view sqlext_step_5: sqlext_step_4 with column __window marked as event time
-- shown
SELECT
  user_name,
  CAST(__window.start AS TIMESTAMP_NTZ) AS window_start,
  total,
  __key_0,
  __key_start,
  __key_end,
  __exists
FROM (
  SELECT
    __k0 AS user_name,
    __window,
    (CAST(shiftright(shiftleft(__a0, 32), 32) AS INT)) AS total,
    __k0 AS __key_0,
    __start AS __key_start,
    __end AS __key_end,
    true AS __exists
  FROM sqlext_step_5
);
