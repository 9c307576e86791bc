CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  kk STRING, m INT, c BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT kk, m, COUNT(*) AS c FROM (SELECT UPPER(k) AS kk, MOD(v, 3) AS m FROM ev WHERE v IS NOT NULL) GROUP BY kk, m;
