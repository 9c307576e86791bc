CREATE TABLE trips (
  id INT, driver STRING, km INT, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '1' DAY,
  PRIMARY KEY (id) NOT ENFORCED
) WITH ('connector' = 'filesystem', 'path' = '${IN}/trips', 'format' = 'debezium-json');

CREATE TABLE shifts (driver STRING, s TIMESTAMP(3), e TIMESTAMP(3), trips BIGINT, km INT, shortest INT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/shifts', 'format' = 'json');

INSERT INTO shifts
SELECT driver, window_start, window_end, COUNT(*), SUM(km), MIN(km)
FROM SESSION(TABLE trips PARTITION BY driver, DESCRIPTOR(ts), INTERVAL '10' MINUTE)
GROUP BY driver, window_start, window_end;
