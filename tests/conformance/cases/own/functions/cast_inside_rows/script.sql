CREATE TABLE t (
  id INT, ai INT, sx STRING, de DECIMAL(12, 4), ts TIMESTAMP(3), b BOOLEAN, d DOUBLE, l BIGINT, r ROW<x STRING, n ROW<y STRING, z ARRAY<STRING>>>
) WITH (
  'connector'='filesystem',
  'path'='${IN}/t.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 ROW<a VARCHAR, b VARCHAR(1)>, c2 ROW<a STRING, b VARCHAR(1)>, c3 ROW<a DECIMAL(10, 1), b DECIMAL(4, 1), c INT>, c4 ROW<a STRING, b TIMESTAMP(0)>, c5 ROW<a INT, b STRING>, c6 ROW<a INT, b INT>, c7 ROW<a CHAR(2), b ROW<c VARCHAR(2), d ARRAY<VARCHAR(1)>>>, c8 ROW<a ARRAY<ROW<b VARCHAR(2), c STRING>>>, c9 ARRAY<ROW<a VARCHAR(1), b ROW<c STRING, d ARRAY<STRING>>>>
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  CAST(ROW(sx, sx) AS ROW<a VARCHAR, b VARCHAR(1)>),
  CAST(ROW(ai, ai) AS ROW<a STRING, b VARCHAR(1)>),
  CAST(ROW(de, de, de) AS ROW<a DECIMAL(10, 1), b DECIMAL(4, 1), c INT>),
  CAST(ROW(ts, ts) AS ROW<a STRING, b TIMESTAMP(0)>),
  CAST(ROW(b, b) AS ROW<a INT, b STRING>),
  CAST(ROW(d, l) AS ROW<a INT, b INT>),
  CAST(r AS ROW<a CHAR(2), b ROW<c VARCHAR(2), d ARRAY<VARCHAR(1)>>>),
  CAST(ROW(ARRAY[ROW(sx, 1)]) AS ROW<a ARRAY<ROW<b VARCHAR(2), c STRING>>>),
  CAST(ARRAY[r] AS ARRAY<ROW<a VARCHAR(1), b ROW<c STRING, d ARRAY<STRING>>>>)
FROM t;
