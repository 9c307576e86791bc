CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 STRING, c2 STRING, c3 STRING, c4 STRING, c5 STRING, c6 STRING, c7 STRING, c8 STRING, c9 STRING, c10 STRING, c11 STRING, c12 STRING, c13 STRING, c14 STRING, c15 STRING, c16 STRING, c17 VARCHAR(13), c18 STRING, c19 STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  LPAD(s, 14, '*'),
  RPAD(s, 14, '*-'),
  LPAD(s, 3, '*'),
  RPAD(s, 3, '*'),
  LPAD('x', -1, '*'),
  LPAD('x', 5, ''),
  REPEAT(s, 2),
  REPEAT('ab', 0),
  REPEAT('ab', -1),
  CONCAT(s, '-', u),
  CONCAT('a', CAST(NULL AS STRING)),
  CONCAT_WS('-', s, u, 'z'),
  CONCAT_WS('|', 'a', CAST(NULL AS STRING), 'b'),
  s || '!' || u,
  OVERLAY(s PLACING 'XX' FROM 2),
  OVERLAY(s PLACING 'XX' FROM 2 FOR 5),
  OVERLAY('xxxxxtest' PLACING 'xxxx' FROM 6),
  CONCAT(s),
  CONCAT_WS(CAST(NULL AS STRING), 'a', 'b')
FROM strs;
