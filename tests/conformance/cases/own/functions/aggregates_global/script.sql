CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  c1 BIGINT, c2 BIGINT, c3 INT, c4 BIGINT, c5 BIGINT, c6 DOUBLE, c7 INT, c8 INT, c9 STRING, c10 STRING, c11 TIMESTAMP(3), c12 TIMESTAMP(3), c13 DOUBLE, c14 DOUBLE, c15 DOUBLE, c16 DOUBLE, c17 DOUBLE, c18 DOUBLE, c19 DOUBLE, c20 INT, c21 BIGINT, c22 INT, c23 DECIMAL(38, 2), c24 DECIMAL(38, 6), c25 BOOLEAN, c26 DOUBLE, c27 ARRAY<DOUBLE>, c28 TINYINT, c29 FLOAT, c30 TINYINT, c31 DATE, c32 TIME(0)
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
  SUM(CAST(n AS BIGINT)),
  AVG(CAST(n AS BIGINT)),
  AVG(x),
  MIN(n),
  MAX(n),
  MIN(s),
  MAX(s),
  MIN(ts),
  MAX(ts),
  STDDEV_POP(x),
  STDDEV_SAMP(x),
  STDDEV(x),
  VAR_POP(x),
  VAR_SAMP(x),
  VARIANCE(x),
  SUM(x),
  SUM(id) FILTER (WHERE b),
  COUNT(*) FILTER (WHERE n > 0),
  AVG(id),
  SUM(CAST(x AS DECIMAL(14, 2))),
  AVG(CAST(id AS DECIMAL(10, 2))),
  MAX(b),
  PERCENTILE(id, 0.5),
  PERCENTILE(id, ARRAY[0.25, 0.75]),
  SUM(CAST(id AS TINYINT)),
  SUM(CAST(id AS FLOAT)),
  AVG(CAST(id AS TINYINT)),
  MAX(CAST(ts AS DATE)),
  MIN(CAST(ts AS TIME))
FROM strs;
