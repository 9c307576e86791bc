-- Days by the clock on the wall: with TIMESTAMP_LTZ, windows follow table.local-time-zone, also when clocks change.
-- Flink 2.3 runs this file unchanged and gives the same rows.

-- Both clock changes of 2024 in Berlin: 31 March has 23 hours, 27 October has 25.
SET 'table.local-time-zone' = 'Europe/Berlin';

CREATE TABLE readings (
  sensor STRING, watts INT, `at` TIMESTAMP_LTZ(3),
  WATERMARK FOR `at` AS `at` - INTERVAL '1' HOUR
) WITH (
  'connector' = 'filesystem', 'path' = '${IN}/sensors', 'format' = 'json',
  'json.timestamp-format.standard' = 'ISO-8601'
);

-- One reading an hour: so many hours has the day.
SELECT window_start, window_end, COUNT(*) AS hours, MIN(watts) AS first_reading, MAX(watts) AS last_reading
FROM TABLE(TUMBLE(TABLE readings, DESCRIPTOR(`at`), INTERVAL '1' DAY))
GROUP BY window_start, window_end;
