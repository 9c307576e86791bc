-- what: of a stream's windows of windows neither is combined where rows are read: Spark keeps both.
-- source: arrow
CREATE TABLE a_few (user_name STRING, amount INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '/in/clicks', 'format' = 'json', 'maxFilesPerTrigger' = '10');
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE (
  SELECT user_name, window_start, window_end, window_time AS ts FROM TABLE(TUMBLE(TABLE a_few, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
  GROUP BY user_name, window_start, window_end, window_time
), DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;

-- becomes
-- view sqlext_a_few: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d', maxFilesPerTrigger='10')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
-- shown
SELECT CAST(__window.start AS TIMESTAMP_NTZ) AS window_start, n
FROM (
  SELECT __q0.__window, COUNT(*) AS n
  FROM (
    SELECT user_name, __window, window(__window, '1 hour') AS __window_1
    FROM (
      SELECT user_name, __q0.__window
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
                  WHEN ts IS NULL THEN CAST(raise_error('[RUN-001] rowtime a_few.ts is NULL') AS TIMESTAMP)
                  WHEN ts < TIMESTAMP '1970-01-01 00:00:00Z' THEN CAST(raise_error('[RUN-002] rowtime a_few.ts lies before 1970, where Spark\'s watermark begins') AS TIMESTAMP)
                  ELSE ts END AS ts,
                CAST(NULL AS STRING) AS __heartbeat
              FROM sqlext_a_few
              UNION ALL
              SELECT NULL, NULL, CAST(value AS TIMESTAMP), value
              FROM sqlext_heartbeat
            ) WATERMARK ts DELAY OF INTERVAL '5' SECOND
          )
          WHERE __seen AND __heartbeat IS NULL
        ) AS a_few
      ) AS __q0
      GROUP BY __window, user_name
    ) AS __q0
  ) AS __q0
  GROUP BY __window
);
