CREATE TABLE typed (
  id INT, ti TINYINT, si SMALLINT, i INT, bi BIGINT, f FLOAT, d DOUBLE, de DECIMAL(12, 4), b BOOLEAN, s STRING, c5 CHAR(5), v5 VARCHAR(5), dt DATE, tm TIME(0), t3 TIMESTAMP(3), t6 TIMESTAMP(6), lt TIMESTAMP_LTZ(3), ai ARRAY<INT>, m MAP<STRING, INT>, r ROW<a INT, b STRING>, byt VARBINARY(10)
) WITH (
  'connector'='filesystem',
  'path'='${IN}/typed.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 INT, c2 STRING, c3 DOUBLE, c4 DECIMAL(3, 1), c5 BIGINT, c6 CHAR(4), c7 VARCHAR(3), c8 CHAR(8), c9 BYTES, c10 STRING, c11 CHAR(8), c12 VARCHAR(2), c13 INT, c14 CHAR(6), c15 VARCHAR(6), c16 CHAR(6), c17 BOOLEAN, c18 BOOLEAN, c19 STRING, c20 VARBINARY(2), c21 VARBINARY(10), c22 BYTES, c23 BINARY(2), c24 STRING, c25 CHAR(5), c26 STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  CAST(b AS INT),
  CAST(b AS STRING),
  CAST(b AS DOUBLE),
  CAST(b AS DECIMAL(3, 1)),
  CAST(b AS BIGINT),
  CAST(b AS CHAR(4)),
  CAST(s AS VARCHAR(3)),
  CAST(s AS CHAR(8)),
  CAST(s AS BYTES),
  CAST(c5 AS STRING),
  CAST(v5 AS CHAR(8)),
  CAST(v5 AS VARCHAR(2)),
  CHAR_LENGTH(c5),
  c5 || '|',
  v5 || '|',
  CAST('abc' AS CHAR(5)) || '|',
  c5 = 'abc',
  c5 = 'abc  ',
  CAST(byt AS STRING),
  CAST(byt AS VARBINARY(2)),
  byt,
  CAST(CAST(byt AS STRING) AS BYTES),
  X'4142',
  CAST(X'4142' AS STRING),
  UPPER(c5),
  CAST(NULL AS STRING)
FROM typed;
