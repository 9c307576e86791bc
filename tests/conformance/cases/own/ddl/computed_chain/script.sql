CREATE TABLE e (id INT, k STRING, v INT, d DOUBLE, twice AS v * 2, kd AS CONCAT(COALESCE(k, '?'), '-', CAST(id AS STRING)), pt AS PROCTIME()) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE snk (
  id INT, twice INT, kd STRING, t3 INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, twice, kd, twice + v AS t3 FROM e WHERE twice > 10;
