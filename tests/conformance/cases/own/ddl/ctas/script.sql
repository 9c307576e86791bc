CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk WITH ('connector'='filesystem', 'path'='${OUT}/snk', 'format'='json') AS SELECT id, k, v * 2 AS v2, UPPER(k) AS u FROM ev WHERE v > 5;
