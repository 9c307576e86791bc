CREATE TABLE typed (
  id INT, ti TINYINT, si SMALLINT, i INT, bi BIGINT, f FLOAT, d DOUBLE, de DECIMAL(12, 4), b BOOLEAN, s STRING, c5 CHAR(5), v5 VARCHAR(5), dt DATE, tm TIME(0), t3 TIMESTAMP(3), t6 TIMESTAMP(6), lt TIMESTAMP_LTZ(3), ai ARRAY<INT>, m MAP<STRING, INT>, r ROW<a INT, b STRING>, byt VARBINARY(10)
) WITH (
  'connector'='filesystem',
  'path'='${IN}/typed.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 TINYINT, c2 SMALLINT, c3 INT, c4 BIGINT, c5 BIGINT, c6 INT, c7 INT, c8 BIGINT, c9 DECIMAL(13, 4), c10 DECIMAL(25, 8), c11 DECIMAL(23, 15), c12 DECIMAL(15, 4), c13 DECIMAL(12, 4), c14 DECIMAL(23, 4), c15 FLOAT, c16 FLOAT, c17 DOUBLE, c18 DOUBLE, c19 INT, c20 SMALLINT, c21 TINYINT, c22 DECIMAL(15, 5), c23 INT, c24 DECIMAL(13, 12), c25 DECIMAL(17, 6), c26 INT, c27 FLOAT, c28 FLOAT, c29 DOUBLE, c30 DECIMAL(38, 10), c31 DECIMAL(38, 0)
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  ti + ti,
  ti * si,
  si + i,
  i + bi,
  bi - 1,
  i / 7,
  i / 2,
  bi / 3,
  de + de,
  de * de,
  de / 3,
  de - 1,
  de % 7,
  i * de,
  f + f,
  f * d,
  d / 3,
  i / d,
  ti / 2,
  si - ti,
  -ti,
  de * 1.5,
  1 / 3,
  1.0 / 3,
  10 / 4.0,
  7 % 3,
  f + i,
  bi * f,
  de + d,
  CAST(1 AS DECIMAL(38, 10)) / 3,
  CAST(1 AS DECIMAL(38, 0)) * CAST(2 AS DECIMAL(38, 0))
FROM typed;
