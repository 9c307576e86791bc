CREATE TABLE typed (
  id INT, ti TINYINT, si SMALLINT, i INT, bi BIGINT, f FLOAT, d DOUBLE, de DECIMAL(12, 4), b BOOLEAN, s STRING, c5 CHAR(5), v5 VARCHAR(5), dt DATE, tm TIME(0), t3 TIMESTAMP(3), t6 TIMESTAMP(6), lt TIMESTAMP_LTZ(3), ai ARRAY<INT>, m MAP<STRING, INT>, r ROW<a INT, b STRING>, byt VARBINARY(10)
) WITH (
  'connector'='filesystem',
  'path'='${IN}/typed.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 BOOLEAN, c2 BOOLEAN, c3 BOOLEAN, c4 BOOLEAN, c5 BIGINT, c6 BIGINT, c7 DECIMAL(14, 4), c8 DECIMAL(14, 4), c9 FLOAT, c10 STRING, c11 SMALLINT, c12 ARRAY<BIGINT>, c13 DOUBLE, c14 BOOLEAN, c15 BOOLEAN, c16 BOOLEAN, c17 BOOLEAN, c18 DATE, c19 BOOLEAN, c20 INT, c21 BOOLEAN, c22 BOOLEAN
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  i = bi,
  i = d,
  de = d,
  i < de,
  ti + bi,
  COALESCE(ti, bi),
  COALESCE(i, de),
  CASE WHEN b THEN i ELSE de END,
  CASE WHEN b THEN f ELSE d END,
  COALESCE(c5, s),
  IF(b, ti, si),
  ARRAY[ti, bi],
  GREATEST(i, d),
  t3 = t6,
  lt > t3,
  dt = '2024-02-29',
  t3 > '2000-01-01 00:00:00',
  COALESCE(dt, t3),
  b = 'true',
  NULLIF(i, 42.0),
  i IN (42, 1.5),
  tm = '12:00:00'
FROM typed;
