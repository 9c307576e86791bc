CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE VIEW g AS SELECT k, COUNT(*) AS c, SUM(v) AS s FROM ev GROUP BY k;
CREATE TABLE snk (
  k STRING, s10 INT, a BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT UPPER(k) AS k, s * 10 AS s10, s / c AS a FROM g WHERE c > 3;
