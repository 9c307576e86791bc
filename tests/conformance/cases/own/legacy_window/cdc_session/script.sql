CREATE TABLE trips (
  id INT, driver STRING, km INT, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '1' DAY,
  PRIMARY KEY (id) NOT ENFORCED
) WITH ('connector' = 'filesystem', 'path' = '${IN}/trips', 'format' = 'debezium-json');

CREATE TABLE shifts (driver STRING, s TIMESTAMP(3), e TIMESTAMP(3), trips BIGINT, km INT, longest INT, others BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/shifts', 'format' = 'json');

INSERT INTO shifts
SELECT driver, SESSION_START(ts, INTERVAL '10' MINUTE), SESSION_END(ts, INTERVAL '10' MINUTE),
  COUNT(*), SUM(km), MAX(km), COUNT(DISTINCT id / 10)
FROM trips GROUP BY driver, SESSION(ts, INTERVAL '10' MINUTE);
