-- Rows that come too late for their window: by default dropped and counted; LATE DATA TO keeps them in a table, as
-- they came, in the micro-batch that found them late. The table has any of the row's columns, by name; `watermark` is
-- the watermark that the row met, `operator` the query that found it late.

CREATE TABLE temperatures (
  sensor STRING, temperature DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'delta', 'path' = '${OUT}/temperatures', 'maxFilesPerTrigger' = '1');

-- Each INSERT is a file, and below a micro-batch: 09:03 has come before the last two rows.
INSERT INTO temperatures VALUES ('kitchen', 20.5, TIMESTAMP '2024-03-01 09:00:10');
INSERT INTO temperatures VALUES ('kitchen', 21.0, TIMESTAMP '2024-03-01 09:00:50');
INSERT INTO temperatures VALUES ('kitchen', 22.5, TIMESTAMP '2024-03-01 09:03:05');
INSERT INTO temperatures VALUES ('kitchen', 22.0, TIMESTAMP '2024-03-01 09:03:20');
INSERT INTO temperatures VALUES ('cellar', 12.0, TIMESTAMP '2024-03-01 09:00:30');
INSERT INTO temperatures VALUES ('kitchen', 19.0, TIMESTAMP '2024-03-01 09:01:40');

CREATE TABLE highest_temperatures (sensor STRING, `minute` TIMESTAMP(3), readings BIGINT, highest DOUBLE)
WITH ('connector' = 'delta', 'path' = '${OUT}/highest_temperatures');

CREATE TABLE late_temperatures (
  sensor STRING, temperature DOUBLE, ts TIMESTAMP(3), `watermark` TIMESTAMP(3), operator STRING
) WITH ('connector' = 'delta', 'path' = '${OUT}/late_temperatures');

-- A minute is closed 30 seconds after its end. The watermark has passed that of the last two rows.
INSERT INTO highest_temperatures
SELECT sensor, window_start, COUNT(*), MAX(temperature)
FROM TABLE(TUMBLE(TABLE temperatures, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY sensor, window_start, window_end
EMIT ON WINDOW CLOSE ALLOW LATENESS INTERVAL '30' SECOND LATE DATA TO late_temperatures;

SELECT * FROM late_temperatures;
