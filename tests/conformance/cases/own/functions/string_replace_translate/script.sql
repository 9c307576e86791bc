CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 STRING, c2 STRING, c3 STRING, c4 STRING, c5 STRING, c6 STRING, c7 STRING, c8 VARCHAR(5), c9 ARRAY<STRING>, c10 ARRAY<STRING>, c11 ARRAY<STRING>, c12 STRING, c13 STRING, c14 STRING, c15 STRING, c16 STRING, c17 INT, c18 INT, c19 INT, c20 STRING, c21 STRING, c22 STRING, c23 STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  REPLACE(s, 'l', 'L'),
  REPLACE(s, 'll', ''),
  REPLACE(s, '', 'x'),
  TRANSLATE(s, 'lo', '01'),
  TRANSLATE(s, 'lod', '0'),
  TRANSLATE(s, '', 'x'),
  ELT(2, 'a', s, 'c'),
  ELT(id, 'one', 'two', 'three'),
  SPLIT(s, ' '),
  SPLIT(s, ''),
  SPLIT('a,b,,c', ','),
  SPLIT_INDEX(s, ',', 0),
  SPLIT_INDEX(s, ',', 2),
  SPLIT_INDEX(s, ',', 9),
  SPLIT_INDEX(s, ',', -1),
  SPLIT_INDEX(s, 44, 1),
  ASCII(s),
  ASCII(''),
  ASCII('é'),
  CHR(65),
  CHR(353),
  CHR(-10),
  CHR(id + 64)
FROM strs;
