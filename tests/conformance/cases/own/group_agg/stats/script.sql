CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  k STRING, sp INT, vs DOUBLE, av INT, ad DOUBLE, sd DOUBLE
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT k, STDDEV_POP(v) AS sp, VAR_SAMP(d) AS vs, AVG(v) AS av, AVG(d) AS ad, SUM(d) AS sd FROM ev GROUP BY k;
