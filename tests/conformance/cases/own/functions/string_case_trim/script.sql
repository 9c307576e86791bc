CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 STRING, c2 STRING, c3 STRING, c4 STRING, c5 STRING, c6 STRING, c7 STRING, c8 STRING, c9 STRING, c10 STRING, c11 INT, c12 INT, c13 STRING, c14 STRING, c15 STRING, c16 STRING, c17 STRING, c18 CHAR(6), c19 CHAR(2)
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  BTRIM(s),
  BTRIM(s, 'Hd '),
  LTRIM(s, 'H '),
  RTRIM(s, 'd '),
  TRIM(BOTH ' ' FROM s),
  TRIM(LEADING 'H' FROM s),
  TRIM(TRAILING 'd' FROM s),
  TRIM(BOTH 'H' FROM s),
  INITCAP(s),
  REVERSE(s),
  CHARACTER_LENGTH(s),
  CHAR_LENGTH(''),
  LEFT(s, 3),
  RIGHT(s, 3),
  LEFT(s, 0),
  RIGHT(s, -1),
  LEFT(s, 100),
  UPPER('straße'),
  LOWER('ÄÖ')
FROM strs;
