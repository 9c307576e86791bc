-- Made-up rows to try things with: datagen makes them, print shows each row, blackhole takes rows and keeps none.
-- Flink 2.3 runs this file, too, and prints the same lines.

CREATE TABLE numbers (n BIGINT)
WITH ('connector' = 'datagen', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '10');

CREATE TABLE terminal (n BIGINT, square BIGINT) WITH ('connector' = 'print', 'print-identifier' = 'squares');

CREATE TABLE nowhere (n BIGINT) WITH ('connector' = 'blackhole');

INSERT INTO terminal SELECT n, n * n FROM numbers WHERE n > 7;
INSERT INTO nowhere SELECT n FROM numbers;
