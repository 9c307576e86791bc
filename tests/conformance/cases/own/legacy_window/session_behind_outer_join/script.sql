CREATE TABLE trips (
  id INT, driver STRING, km INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' DAY
) WITH ('connector' = 'filesystem', 'path' = '${IN}/trips', 'format' = 'json');

CREATE TABLE fares (id INT, cents INT) WITH ('connector' = 'filesystem', 'path' = '${IN}/fares', 'format' = 'json');

CREATE TABLE shifts (driver STRING, s TIMESTAMP(3), trips BIGINT, paid BIGINT, cents INT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/shifts', 'format' = 'json');

INSERT INTO shifts
SELECT driver, SESSION_START(ts, INTERVAL '10' MINUTE), COUNT(*), COUNT(cents), SUM(cents)
FROM trips LEFT JOIN fares ON trips.id = fares.id
GROUP BY driver, SESSION(ts, INTERVAL '10' MINUTE);
