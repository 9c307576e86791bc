-- what: Computed and metadata columns; the rowtime is one of them.
CREATE TABLE events (
  millis BIGINT,
  price DECIMAL(10, 2),
  quantity INT,
  `file` STRING NOT NULL METADATA FROM 'file.name' VIRTUAL,
  total AS price * quantity,
  ts AS TO_TIMESTAMP_LTZ(millis, 3),
  seen AS PROCTIME(),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '/in/events', 'format' = 'json');

SELECT `file`, window_start, SUM(total) AS total
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY `file`, window_start, window_end;

-- becomes
-- view sqlext_events: readStream json /in/events (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns millis BIGINT, price DECIMAL(10, 2), quantity INT, file STRING
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
-- shown
SELECT file, CAST(__window.start AS TIMESTAMP_NTZ) AS window_start, total
FROM (
  SELECT file, __q0.__window, CAST(sum(total) AS DECIMAL(38, 2)) AS total
  FROM (
    SELECT millis, price, quantity, file, total, ts, window(ts, '1 minute') AS __window
    FROM (
      SELECT millis, price, quantity, file, total, ts
      FROM (
        SELECT *, spark_partition_id() >= 0 AS __seen
        FROM (
          SELECT
            millis,
            price,
            quantity,
            file,
            IF(spark_partition_id() >= 0, price * quantity, NULL) AS total,
            CASE
              WHEN timestamp_millis(millis) IS NULL THEN CAST(raise_error('[RUN-001] rowtime events.ts is NULL') AS TIMESTAMP)
              WHEN timestamp_millis(millis) < TIMESTAMP '1970-01-01 00:00:00Z' THEN CAST(raise_error('[RUN-002] rowtime events.ts lies before 1970, where Spark\'s watermark begins') AS TIMESTAMP)
              ELSE timestamp_millis(millis) END AS ts,
            CAST(NULL AS STRING) AS __heartbeat
          FROM sqlext_events
          UNION ALL
          SELECT NULL, NULL, NULL, NULL, NULL, CAST(value AS TIMESTAMP), value
          FROM sqlext_heartbeat
        ) WATERMARK ts DELAY OF INTERVAL '5' SECOND
      )
      WHERE __seen AND __heartbeat IS NULL
    ) AS events
  ) AS __q0
  GROUP BY __window, `file`
);
