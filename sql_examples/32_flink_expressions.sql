-- Where Flink and Spark mean different things by the same words, a script says whose meaning it wants.
-- Flink 2.3 gives the same rows for the first two queries (it takes no notice of the option).

CREATE TABLE pairs (a INT, b INT)
WITH ('connector' = 'datagen', 'fields.a.kind' = 'sequence', 'fields.a.start' = '5', 'fields.a.end' = '6',
      'fields.b.kind' = 'sequence', 'fields.b.start' = '2', 'fields.b.end' = '3');

SET 'sqlext.expressions' = 'flink';

-- 5 / 2 is an INT, an average of INTs is an INT, a week starts on Sunday.
SELECT a / b AS quotient, FLOOR(TIMESTAMP '2024-03-01 09:00:00' TO WEEK) AS week FROM pairs;

SELECT AVG(a) AS average FROM pairs;

SET 'sqlext.expressions' = 'spark';

-- 5 / 2 is 2.5, an average is a DOUBLE, a week starts on Monday.
SELECT a / b AS quotient, date_trunc('WEEK', TIMESTAMP '2024-03-01 09:00:00') AS week FROM pairs;

SELECT AVG(a) AS average FROM pairs;
