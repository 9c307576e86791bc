CREATE TABLE typed (
  id INT, ti TINYINT, si SMALLINT, i INT, bi BIGINT, f FLOAT, d DOUBLE, de DECIMAL(12, 4), b BOOLEAN, s STRING, c5 CHAR(5), v5 VARCHAR(5), dt DATE, tm TIME(0), t3 TIMESTAMP(3), t6 TIMESTAMP(6), lt TIMESTAMP_LTZ(3), ai ARRAY<INT>, m MAP<STRING, INT>, r ROW<a INT, b STRING>, byt VARBINARY(10)
) WITH (
  'connector'='filesystem',
  'path'='${IN}/typed.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 TINYINT, c2 SMALLINT, c3 INT, c4 BIGINT, c5 FLOAT, c6 DOUBLE, c7 DECIMAL(10, 2), c8 BOOLEAN, c9 STRING, c10 DECIMAL(5, 1), c11 DECIMAL(38, 18), c12 DECIMAL(6, 0)
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  CAST(de AS TINYINT),
  CAST(de AS SMALLINT),
  CAST(de AS INT),
  CAST(de AS BIGINT),
  CAST(de AS FLOAT),
  CAST(de AS DOUBLE),
  CAST(de AS DECIMAL(10, 2)),
  CAST(de AS BOOLEAN),
  CAST(de AS STRING),
  CAST(de AS DECIMAL(5, 1)),
  CAST(de AS DECIMAL(38, 18)),
  CAST(de AS DECIMAL(6, 0))
FROM typed;
