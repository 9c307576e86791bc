CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 INT, c2 DOUBLE, c3 INT, c4 DOUBLE, c5 DOUBLE, c6 DOUBLE, c7 DOUBLE, c8 INT, c9 INT, c10 INT, c11 INT, c12 INT, c13 DOUBLE, c14 DOUBLE, c15 DOUBLE, c16 INT, c17 DECIMAL(2, 0), c18 DECIMAL(2, 0), c19 DECIMAL(4, 2), c20 DOUBLE, c21 DOUBLE, c22 DOUBLE, c23 DOUBLE, c24 INT, c25 DECIMAL(5, 2), c26 INT, c27 DOUBLE, c28 DECIMAL(3, 2), c29 DECIMAL(2, 0), c30 DECIMAL(2, 0)
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  ABS(n),
  ABS(x),
  SIGN(n),
  SIGN(x),
  CEIL(x),
  CEILING(x),
  FLOOR(x),
  FLOOR(n),
  MOD(n, 5),
  n % 5,
  MOD(-7, 3),
  MOD(7, -3),
  ROUND(x),
  ROUND(x, 1),
  ROUND(x, 2),
  ROUND(n, -2),
  ROUND(2.5),
  ROUND(-2.5),
  ROUND(1.005, 2),
  ROUND(2.5E0),
  ROUND(0.5E0),
  TRUNCATE(x, 1),
  TRUNCATE(x),
  TRUNCATE(n, -1),
  TRUNCATE(42.324, 2),
  -n,
  +x,
  ABS(-1.25),
  CEIL(1.2),
  FLOOR(-1.2)
FROM strs;
