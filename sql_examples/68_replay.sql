-- Dead letters come back: REPLAY feeds them into the query that met them, corrected, once, and they are marked.

CREATE TABLE typed_readings (sensor STRING, temperature STRING, ts TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = '${IN}/readings', 'format' = 'json');

-- REPLAY needs the name of each letter, and from which query and table it is.
CREATE TABLE reading_letters (
  letter STRING, query_name STRING, cause STRING, reason STRING, source STRING, place STRING, text STRING
) WITH ('connector' = 'delta', 'path' = '${OUT}/reading_letters');

SET 'sqlext.dead-letters.table' = 'reading_letters';
-- The query goes on where it was. One that begins anew would read all rows again.
SET 'sqlext.bounded' = 'catch-up';

CREATE MATERIALIZED VIEW degrees AS
SELECT sensor, CAST(temperature AS DOUBLE) AS celsius, ts FROM typed_readings;

-- SET is over the columns of the row. The text of the letter is there, too.
REPLAY reading_letters WHERE cause = 'expression' SET temperature = '20.5';
REPLAY reading_letters WHERE cause = 'decode' SET sensor = 'unknown', ts = TIMESTAMP '2024-01-01 00:00:00';
-- What came back does not come back again.
REPLAY reading_letters WHERE cause = 'expression';

-- The view's query goes on, and reads them.
ALTER MATERIALIZED TABLE degrees RESUME;
RESET 'sqlext.dead-letters.table';

SELECT * FROM degrees;
SELECT cause, reason, text FROM reading_letters;
