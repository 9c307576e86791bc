CREATE TABLE typed (
  id INT, ti TINYINT, si SMALLINT, i INT, bi BIGINT, f FLOAT, d DOUBLE, de DECIMAL(12, 4), b BOOLEAN, s STRING, c5 CHAR(5), v5 VARCHAR(5), dt DATE, tm TIME(0), t3 TIMESTAMP(3), t6 TIMESTAMP(6), lt TIMESTAMP_LTZ(3), ai ARRAY<INT>, m MAP<STRING, INT>, r ROW<a INT, b STRING>, byt VARBINARY(10)
) WITH (
  'connector'='filesystem',
  'path'='${IN}/typed.json',
  'format'='json'
);
CREATE TABLE snk (
  c1 TINYINT, c2 TINYINT, c3 TINYINT, c4 TINYINT, c5 SMALLINT, c6 SMALLINT, c7 SMALLINT, c8 SMALLINT, c9 INT, c10 INT, c11 INT, c12 INT, c13 BIGINT, c14 BIGINT, c15 BIGINT, c16 BIGINT, c17 FLOAT, c18 FLOAT, c19 FLOAT, c20 FLOAT, c21 DOUBLE, c22 DOUBLE, c23 DOUBLE, c24 DOUBLE, c25 DECIMAL(38, 4), c26 DECIMAL(38, 6), c27 DECIMAL(12, 4), c28 DECIMAL(12, 4), c29 DATE, c30 TIME(0), c31 TIMESTAMP(6), c32 TIMESTAMP_LTZ(3), c33 CHAR(5), c34 VARCHAR(5), c35 BIGINT, c36 BIGINT, c37 STRING, c38 STRING, c39 STRING, c40 STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  SUM(ti),
  AVG(ti),
  MIN(ti),
  MAX(ti),
  SUM(si),
  AVG(si),
  MIN(si),
  MAX(si),
  SUM(i),
  AVG(i),
  MIN(i),
  MAX(i),
  SUM(bi),
  AVG(bi),
  MIN(bi),
  MAX(bi),
  SUM(f),
  AVG(f),
  MIN(f),
  MAX(f),
  SUM(d),
  AVG(d),
  MIN(d),
  MAX(d),
  SUM(de),
  AVG(de),
  MIN(de),
  MAX(de),
  MAX(dt),
  MIN(tm),
  MAX(t6),
  MIN(lt),
  MAX(c5),
  MIN(v5),
  COUNT(r),
  COUNT(ai),
  TYPEOF(SUM(de)),
  TYPEOF(AVG(de)),
  TYPEOF(AVG(ti)),
  TYPEOF(SUM(ti))
FROM typed WHERE id IN (1, 3, 5, 6);
