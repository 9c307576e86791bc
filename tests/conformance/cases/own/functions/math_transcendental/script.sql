CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 DOUBLE, c2 DOUBLE, c3 DOUBLE, c4 DOUBLE, c5 DOUBLE, c6 DOUBLE, c7 DOUBLE, c8 DOUBLE, c9 DOUBLE, c10 DOUBLE, c11 DOUBLE, c12 DOUBLE, c13 DOUBLE, c14 DOUBLE, c15 DOUBLE, c16 DOUBLE, c17 DOUBLE, c18 DOUBLE, c19 DOUBLE, c20 DOUBLE, c21 DOUBLE, c22 DOUBLE, c23 DOUBLE, c24 DOUBLE, c25 DOUBLE, c26 DOUBLE, c27 DOUBLE, c28 DOUBLE, c29 DOUBLE
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  EXP(x / 1E10),
  LN(ABS(x) + 1),
  LOG10(100),
  LOG2(8),
  LOG(8),
  LOG(2, 8),
  LOG(x * x + 2),
  POWER(x, 2),
  POWER(2, 10),
  POWER(2, -1),
  SQRT(16),
  SQRT(x * x),
  SQRT(-1),
  SIN(x),
  COS(x),
  TAN(x),
  COT(1.0),
  ASIN(0.5),
  ACOS(0.5),
  ATAN(x),
  ATAN2(x, 2),
  SINH(1),
  COSH(1),
  TANH(x),
  DEGREES(PI()),
  RADIANS(180),
  PI(),
  E(),
  POWER(x, 0)
FROM strs WHERE x IS NOT NULL;
