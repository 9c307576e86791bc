CREATE TABLE b (id INT, k STRING, v INT, ts TIMESTAMP(3), twice AS v * 2, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) COMMENT 'base' WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE e WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json') LIKE b (EXCLUDING ALL);
CREATE TABLE snk (
  id INT, k STRING, v INT, ts TIMESTAMP(3)
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, k, v, ts FROM e WHERE id < 4;
