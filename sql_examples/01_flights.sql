-- Every flight that left New York's three airports in 2013, as a stream in the order of departure.
--
--   sqlext run sql_examples/01_flights.sql --define IN=data --define OUT=data/out
--
-- IN holds the files that `python -m sqlext.demo data` writes; OUT takes the result tables (Delta).
-- Each result has a primary key, so running the script again replaces its rows.

-- Event time is the scheduled departure. The latest flight left 21 h 40 min after its time, so rows run
-- that far out of order, and a watermark that waits for 22 hours finds none of them late.
CREATE TABLE flights (
  sched_dep TIMESTAMP(3),
  carrier   STRING,
  flight    INT,
  tailnum   STRING,
  origin    STRING,
  dest      STRING,
  dep_delay INT COMMENT 'minutes; NULL: the flight was cancelled',
  arr_delay INT,
  distance  INT,
  WATERMARK FOR sched_dep AS sched_dep - INTERVAL '22' HOUR
) WITH (
  'connector' = 'filesystem',
  'path' = '${IN}/flights',
  'format' = 'json'
);

CREATE TABLE weather (
  observed   TIMESTAMP(3),
  origin     STRING,
  temp       DOUBLE COMMENT 'degrees Fahrenheit',
  humid      DOUBLE,
  wind_speed DOUBLE COMMENT 'miles per hour',
  precip     DOUBLE COMMENT 'inches',
  visib      DOUBLE COMMENT 'miles',
  WATERMARK FOR observed AS observed - INTERVAL '1' HOUR
) WITH (
  'connector' = 'filesystem',
  'path' = '${IN}/weather',
  'format' = 'csv',
  'csv.null-literal' = 'NA'
);

-- Tumbling windows: each airport, hour by hour. window_time carries the event time on to the next level,
-- whose windows bring a window_start and a window_end of their own: these need other names.
CREATE VIEW by_hour AS
SELECT
  origin, window_start AS hour_start, window_end AS hour_end, window_time AS hour_time,
  COUNT(*) AS flights,
  COUNT(*) FILTER (WHERE dep_delay IS NULL) AS cancelled,
  COUNT(dep_delay) AS departed,
  SUM(CAST(dep_delay AS BIGINT)) AS delay_minutes,
  MAX(dep_delay) AS max_delay
FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(sched_dep), INTERVAL '1' HOUR))
GROUP BY origin, window_start, window_end, window_time;

-- Flights without a tail number are left out: unknown aircraft are not one aircraft.
CREATE VIEW known_aircraft AS
SELECT tailnum, sched_dep, distance FROM flights WHERE tailnum IS NOT NULL;

CREATE TABLE hourly_delays (
  origin STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3),
  flights BIGINT, cancelled BIGINT, avg_delay DOUBLE, max_delay INT,
  PRIMARY KEY (origin, window_start) NOT ENFORCED
) WITH ('connector' = 'delta', 'path' = '${OUT}/hourly_delays');

CREATE TABLE rolling_delays (
  origin STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3),
  flights BIGINT, late_flights BIGINT, avg_delay DOUBLE,
  PRIMARY KEY (origin, window_start) NOT ENFORCED
) WITH ('connector' = 'delta', 'path' = '${OUT}/rolling_delays');

CREATE TABLE aircraft_shifts (
  tailnum STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3),
  flights BIGINT, miles BIGINT,
  PRIMARY KEY (tailnum, window_start) NOT ENFORCED
) WITH ('connector' = 'delta', 'path' = '${OUT}/aircraft_shifts');

CREATE TABLE daily_delays (
  origin STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3),
  hours BIGINT, flights BIGINT, cancelled BIGINT, delay_minutes BIGINT,
  busiest_hour BIGINT, max_delay INT,
  PRIMARY KEY (origin, window_start) NOT ENFORCED
) WITH ('connector' = 'delta', 'path' = '${OUT}/daily_delays');

CREATE TABLE hourly_weather (
  origin STRING, window_start TIMESTAMP(3),
  reports BIGINT, temp DOUBLE, wind_speed DOUBLE, precip DOUBLE,
  PRIMARY KEY (origin, window_start) NOT ENFORCED
) WITH ('connector' = 'delta', 'path' = '${OUT}/hourly_weather');

EXECUTE STATEMENT SET
BEGIN

INSERT INTO hourly_delays
SELECT origin, hour_start, hour_end, flights, cancelled,
       CAST(delay_minutes AS DOUBLE) / departed, max_delay
FROM by_hour;

-- Hopping windows: the last three hours, every hour.
INSERT INTO rolling_delays
SELECT origin, window_start, window_end,
       COUNT(*), COUNT(*) FILTER (WHERE dep_delay > 15), AVG(CAST(dep_delay AS DOUBLE))
FROM TABLE(HOP(TABLE flights, DESCRIPTOR(sched_dep), INTERVAL '1' HOUR, INTERVAL '3' HOUR))
GROUP BY origin, window_start, window_end;

-- Session windows: an aircraft's departures from New York, until it has none for six hours.
INSERT INTO aircraft_shifts
SELECT tailnum, window_start, window_end, COUNT(*), SUM(CAST(distance AS BIGINT))
FROM TABLE(SESSION(TABLE known_aircraft PARTITION BY tailnum, DESCRIPTOR(sched_dep), INTERVAL '6' HOUR))
GROUP BY tailnum, window_start, window_end;

-- A cascade: days made of hours.
INSERT INTO daily_delays
SELECT origin, window_start, window_end,
       COUNT(*), SUM(flights), SUM(cancelled), SUM(delay_minutes), MAX(flights), MAX(max_delay)
FROM TABLE(TUMBLE(TABLE by_hour, DESCRIPTOR(hour_time), INTERVAL '1' DAY))
GROUP BY origin, window_start, window_end;

INSERT INTO hourly_weather
SELECT origin, window_start, COUNT(*), AVG(temp), MAX(wind_speed), SUM(precip)
FROM TABLE(TUMBLE(TABLE weather, DESCRIPTOR(observed), INTERVAL '1' HOUR))
GROUP BY origin, window_start, window_end;

END;

-- The results are tables like any other. Batch: what is in them now, sorted.
SET 'execution.runtime-mode' = 'batch';

-- The worst hours, and the weather in them.
SELECT d.origin, d.window_start, d.flights, d.cancelled, ROUND(d.avg_delay, 1) AS avg_delay,
       d.max_delay, ROUND(w.wind_speed, 1) AS wind, w.precip
FROM hourly_delays AS d
LEFT JOIN hourly_weather AS w ON d.origin = w.origin AND d.window_start = w.window_start
WHERE d.flights >= 10
ORDER BY avg_delay DESC, max_delay DESC
LIMIT 8;

-- The days with the most cancellations.
SELECT origin, CAST(window_start AS DATE) AS flight_day, flights, cancelled, busiest_hour, max_delay
FROM daily_delays
ORDER BY cancelled DESC, origin
LIMIT 8;

-- The hardest-working aircraft.
SELECT tailnum, window_start, window_end, flights, miles
FROM aircraft_shifts
ORDER BY flights DESC, miles DESC, tailnum
LIMIT 8;
