CREATE TABLE typed (
  id INT, ti TINYINT, si SMALLINT, i INT, bi BIGINT, f FLOAT, d DOUBLE, de DECIMAL(12, 4), b BOOLEAN, s STRING, c5 CHAR(5), v5 VARCHAR(5), dt DATE, tm TIME(0), t3 TIMESTAMP(3), t6 TIMESTAMP(6), lt TIMESTAMP_LTZ(3), ai ARRAY<INT>, m MAP<STRING, INT>, r ROW<a INT, b STRING>, byt VARBINARY(10)
) WITH (
  'connector'='filesystem',
  'path'='${IN}/typed.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 TINYINT, c2 SMALLINT, c3 INT, c4 FLOAT, c5 DOUBLE, c6 DECIMAL(19, 0), c7 DECIMAL(10, 2), c8 BOOLEAN, c9 STRING, c10 VARCHAR(3), c11 CHAR(5)
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  CAST(bi AS TINYINT),
  CAST(bi AS SMALLINT),
  CAST(bi AS INT),
  CAST(bi AS FLOAT),
  CAST(bi AS DOUBLE),
  CAST(bi AS DECIMAL(19, 0)),
  CAST(bi AS DECIMAL(10, 2)),
  CAST(bi AS BOOLEAN),
  CAST(bi AS STRING),
  CAST(bi AS VARCHAR(3)),
  CAST(bi AS CHAR(5))
FROM typed;
