CREATE TABLE e (id INT, k STRING, v INT, ts TIMESTAMP(3)) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE snk (
  id INT, a DECIMAL(10, 4), b DECIMAL(38, 7), c DOUBLE, d FLOAT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, CAST(v AS DECIMAL(10, 4)) AS a, CAST(v AS DECIMAL(38, 18)) * 1000000000 AS b, v / 3E0 AS c, CAST(v AS FLOAT) / 7 AS d FROM e WHERE id < 8;
