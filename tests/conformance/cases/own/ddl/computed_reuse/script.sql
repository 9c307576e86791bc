CREATE TABLE e (id INT, v INT, twice AS v * 2, neg AS -v) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE snk (
  id INT, z INT, twice INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, twice + neg AS z, twice FROM e WHERE id < 9;
