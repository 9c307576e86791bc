CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  c1 BIGINT, c2 BIGINT, c3 INT, c4 STRING, c5 ARRAY<BOOLEAN>
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  COUNT(DISTINCT b),
  COUNT(DISTINCT n),
  SUM(DISTINCT id),
  LISTAGG(DISTINCT CAST(b AS STRING)),
  ARRAY_AGG(DISTINCT b)
FROM strs;
