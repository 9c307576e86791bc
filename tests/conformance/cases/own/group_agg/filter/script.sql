CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  k STRING, a BIGINT, b INT, c DOUBLE
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT k, COUNT(*) FILTER (WHERE v > 5) AS a, SUM(v) FILTER (WHERE v <= 5) AS b, MAX(d) FILTER (WHERE d < 0) AS c FROM ev GROUP BY k;
