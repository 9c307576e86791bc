CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 CHAR(1), c2 DECIMAL(11, 1), c3 DOUBLE, c4 INT, c5 INT, c6 INT, c7 DOUBLE, c8 STRING, c9 INT, c10 CHAR(1), c11 DOUBLE, c12 STRING, c13 INT, c14 INT, c15 INT, c16 DOUBLE, c17 STRING, c18 BOOLEAN, c19 BOOLEAN, c20 BOOLEAN, c21 BOOLEAN, c22 BOOLEAN, c23 BOOLEAN, c24 BOOLEAN, c25 STRING, c26 STRING, c27 STRING, c28 STRING, c29 STRING, c30 STRING, c31 STRING, c32 STRING, c33 STRING, c34 STRING, c35 STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  CASE n WHEN 42 THEN 'a' WHEN 0 THEN 'b' END,
  CASE WHEN b THEN 1 ELSE 2.5 END,
  CASE WHEN n > 0 THEN n ELSE x END,
  CASE WHEN n IS NULL THEN NULL ELSE n END,
  COALESCE(n, id),
  COALESCE(CAST(NULL AS INT), n, 7),
  COALESCE(x, n),
  NULLIF(s, ''),
  NULLIF(n, n),
  IF(n > 0, 'p', 'q'),
  IF(b, n, x),
  IFNULL(s, 'none'),
  IFNULL(n, 0),
  GREATEST(n, id, 5),
  LEAST(n, id, 5),
  GREATEST(x, 1.0),
  LEAST(s, 'b'),
  IS_ALPHA(s),
  IS_DECIMAL(s),
  IS_DIGIT(s),
  IS_ALPHA('abc'),
  IS_DECIMAL('1.5'),
  IS_DIGIT('12'),
  IS_DECIMAL('-1'),
  TYPEOF(n),
  TYPEOF(x),
  TYPEOF(s),
  TYPEOF(ts),
  TYPEOF(ARRAY[1, 2]),
  TYPEOF(CAST(1 AS DECIMAL(5, 2))),
  TYPEOF(n, TRUE),
  TYPEOF('a'),
  TYPEOF(1.5),
  TYPEOF(1E0),
  TYPEOF(NULL)
FROM strs;
