-- what: A watermark that is no constant delay is a column of its own.
CREATE TABLE readings (
  v DOUBLE,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS CASE WHEN v > 0 THEN ts - INTERVAL '1' SECOND ELSE ts - INTERVAL '1' MINUTE END
) WITH ('connector' = 'filesystem', 'path' = '/in/readings', 'format' = 'json');

SELECT window_start, AVG(v) AS v
FROM TABLE(TUMBLE(TABLE readings, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;

-- becomes
-- view sqlext_readings: readStream json /in/readings (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns v DOUBLE, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT v, ts
FROM (
  SELECT *, spark_partition_id() >= 0 AS __seen
  FROM (
    SELECT
      *,
      CAST(CASE WHEN v > 0 THEN CAST(__marked.ts AS TIMESTAMP_NTZ) - INTERVAL '1' SECOND ELSE CAST(__marked.ts AS TIMESTAMP_NTZ) - INTERVAL '1' MINUTE END AS TIMESTAMP) AS __mark
    FROM (
      SELECT
        v,
        CASE
          WHEN ts IS NULL THEN CAST(raise_error('[RUN-001] rowtime readings.ts is NULL') AS TIMESTAMP)
          WHEN ts < TIMESTAMP '1970-01-01 00:00:00Z' THEN CAST(raise_error('[RUN-002] rowtime readings.ts lies before 1970, where Spark\'s watermark begins') AS TIMESTAMP)
          ELSE ts END AS ts,
        CAST(NULL AS STRING) AS __heartbeat
      FROM sqlext_readings
    ) AS __marked
    UNION ALL
    SELECT NULL, CAST(value AS TIMESTAMP), value, CAST(value AS TIMESTAMP)
    FROM sqlext_heartbeat
  ) WATERMARK __mark DELAY OF INTERVAL '0' SECOND
)
WHERE __seen AND __heartbeat IS NULL;
-- view sqlext_step_2: sqlext_step_1 with column ts marked as event time
-- shown
SELECT CAST(__window.start AS TIMESTAMP_NTZ) AS window_start, v
FROM (
  SELECT __q0.__window, avg(v) AS v
  FROM (
    SELECT v, ts, window(ts, '1 minute') AS __window
    FROM sqlext_step_2 AS readings
  ) AS __q0
  GROUP BY __window
);
