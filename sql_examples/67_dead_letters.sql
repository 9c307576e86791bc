-- Rows that a query cannot use: by default one of them fails the query. A table of dead letters keeps them, each with its
-- cause, exactly once, and the query goes on: up to a limit, if there is one.

CREATE TABLE unchecked_readings (sensor STRING, temperature STRING, ts TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = '${IN}/readings', 'format' = 'json');

-- Its columns are some of these, by name.
CREATE TABLE dead_readings (
  query_name STRING, cause STRING, code STRING, operator STRING, source STRING, place STRING, reason STRING,
  text STRING, read_at TIMESTAMP_LTZ(3)
) WITH ('connector' = 'delta', 'path' = '${OUT}/dead_readings');

SET 'sqlext.dead-letters.table' = 'dead_readings';
SET 'sqlext.dead-letters.limit' = '100';

CREATE TABLE checked_readings (sensor STRING, celsius DOUBLE NOT NULL, ts TIMESTAMP(3))
WITH ('connector' = 'delta', 'path' = '${OUT}/checked_readings');

-- One line is no JSON. One temperature is no number. For the one of 21 degrees the condition divides by zero.
INSERT INTO checked_readings
SELECT sensor, CAST(temperature AS DOUBLE), ts
FROM unchecked_readings WHERE 1 / (21 - CAST(temperature AS DOUBLE)) < 1;

SELECT cause, code, operator, reason, text FROM dead_readings;

RESET 'sqlext.dead-letters.table';

-- A query over the table reads each letter once. So what is mended is written once.
INSERT INTO checked_readings
SELECT get_json_object(text, '$.sensor'), 20.5, CAST(get_json_object(text, '$.ts') AS TIMESTAMP(3))
FROM dead_readings WHERE reason LIKE '%cannot be cast';
