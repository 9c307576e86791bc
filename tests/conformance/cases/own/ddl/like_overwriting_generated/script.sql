CREATE TABLE b (id INT, k STRING, v INT, ts TIMESTAMP(3), twice AS v * 2, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) COMMENT 'base' WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE e (twice AS v * 3) LIKE b (OVERWRITING GENERATED);
CREATE TABLE snk (
  id INT, twice INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, twice FROM e WHERE id < 6;
