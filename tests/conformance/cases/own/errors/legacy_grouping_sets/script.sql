CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  k STRING, c BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk SELECT k, COUNT(*) FROM ev GROUP BY GROUPING SETS ((TUMBLE(ts, INTERVAL '1' MINUTE), k), (TUMBLE(ts, INTERVAL '1' MINUTE)));
