CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  c1 BOOLEAN, c2 BIGINT, c3 INT, c4 DOUBLE, c5 STRING, c6 TIMESTAMP(3), c7 BIGINT, c8 BIGINT, c9 INT, c10 STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  b,
  COUNT(*),
  SUM(n),
  AVG(x),
  MIN(s),
  MAX(ts),
  SUM(id) + COUNT(n),
  COUNT(*) FILTER (WHERE x > 0),
  MAX(n) - MIN(id),
  CAST(SUM(id) AS STRING) || 'x'
FROM strs GROUP BY b;
