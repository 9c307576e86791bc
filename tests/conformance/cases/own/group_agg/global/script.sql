CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  c BIGINT, s INT, a INT, mn TIMESTAMP(3), mx TIMESTAMP(3), ck BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT COUNT(*) AS c, SUM(v) AS s, AVG(v) AS a, MIN(ts) AS mn, MAX(ts) AS mx, COUNT(k) AS ck FROM ev;
