-- what: CURRENT_WATERMARK: an operator adds the watermark to each row; WHERE and SELECT read it as a column.
SELECT user_name, CURRENT_WATERMARK(ts) AS w
FROM clicks
WHERE CURRENT_WATERMARK(ts) IS NULL OR ts > CURRENT_WATERMARK(ts);

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT spark_partition_id() AS c0, user_name AS c1, ts AS c2
FROM (
  SELECT clicks.user_name, clicks.ts
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
) AS __in;
-- view sqlext_step_2: stateful function watermark over sqlext_step_1
-- shown
SELECT user_name, CAST(w AS TIMESTAMP_NTZ) AS w
FROM (
  SELECT __in.user_name, __in.__watermark AS w
  FROM (
    SELECT user_name, ts, timestamp_millis(__watermark) AS __watermark
    FROM sqlext_step_2
  ) AS __in
  WHERE CAST(__in.__watermark AS TIMESTAMP_NTZ) IS NULL OR CAST(__in.ts AS TIMESTAMP_NTZ) > CAST(__in.__watermark AS TIMESTAMP_NTZ)
);
