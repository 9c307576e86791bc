CREATE TABLE b (id INT, k STRING, v INT, ts TIMESTAMP(3), twice AS v * 2, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) COMMENT 'base' WITH ('connector'='filesystem', 'path'='${IN}/nowhere.json', 'format'='json');
CREATE TABLE e WITH ('path'='${IN}/ev.json') LIKE b (OVERWRITING OPTIONS);
CREATE TABLE snk (
  k STRING, c BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT k, COUNT(*) AS c FROM e GROUP BY k;
