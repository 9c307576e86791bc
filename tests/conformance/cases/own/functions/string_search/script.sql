CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 INT, c2 INT, c3 INT, c4 INT, c5 INT, c6 INT, c7 INT, c8 INT, c9 INT, c10 INT, c11 BOOLEAN, c12 BOOLEAN, c13 BOOLEAN, c14 BOOLEAN, c15 BOOLEAN, c16 BOOLEAN, c17 BOOLEAN, c18 BOOLEAN, c19 BOOLEAN, c20 BOOLEAN
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  POSITION('o' IN s),
  POSITION('' IN s),
  INSTR(s, 'l'),
  INSTR(s, 'l', 5),
  INSTR(s, 'o', 1, 2),
  INSTR(s, 'l', -1),
  INSTR(s, 'zz'),
  LOCATE('l', s),
  LOCATE('l', s, 5),
  LOCATE('', s),
  STARTSWITH(s, 'He'),
  ENDSWITH(s, 'ld'),
  STARTSWITH(s, ''),
  s LIKE 'H%',
  s LIKE '_ello%',
  s LIKE 'H^_%' ESCAPE '^',
  s LIKE '',
  s NOT LIKE '%o%',
  s SIMILAR TO '%(o|a)%',
  s NOT SIMILAR TO 'H.*'
FROM strs;
