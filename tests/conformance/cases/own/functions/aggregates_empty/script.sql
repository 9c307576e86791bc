CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  c1 BIGINT, c2 BIGINT, c3 INT, c4 DOUBLE, c5 STRING, c6 TIMESTAMP(3)
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  COUNT(*),
  COUNT(n),
  SUM(n),
  AVG(x),
  MAX(s),
  MIN(ts)
FROM strs WHERE id > 100;
