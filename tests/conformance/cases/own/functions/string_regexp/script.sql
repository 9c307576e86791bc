CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 BOOLEAN, c2 BOOLEAN, c3 STRING, c4 STRING, c5 STRING, c6 STRING, c7 STRING, c8 ARRAY<STRING>, c9 ARRAY<STRING>, c10 ARRAY<STRING>, c11 INT, c12 INT, c13 INT, c14 INT, c15 STRING, c16 STRING, c17 STRING, c18 STRING, c19 STRING, c20 BOOLEAN, c21 INT, c22 STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  REGEXP(s, 'o'),
  REGEXP(s, '^[A-Z]'),
  REGEXP_EXTRACT(s, '(\w+) (\w+)'),
  REGEXP_EXTRACT(s, '(\w+) (\w+)', 0),
  REGEXP_EXTRACT(s, '(\w+) (\w+)', 2),
  REGEXP_EXTRACT(s, '(\w+) (\w+)', 3),
  REGEXP_EXTRACT(s, 'zzz', 0),
  REGEXP_EXTRACT_ALL(s, '([a-z])([a-z])'),
  REGEXP_EXTRACT_ALL(s, '([a-z])([a-z])', 2),
  REGEXP_EXTRACT_ALL(s, '[a-z]+', 0),
  REGEXP_COUNT(s, 'l'),
  REGEXP_COUNT(s, ''),
  REGEXP_INSTR(s, 'o'),
  REGEXP_INSTR(s, 'zz'),
  REGEXP_SUBSTR(s, 'l+'),
  REGEXP_SUBSTR(s, 'zz'),
  REGEXP_REPLACE(s, '(l+)', '<$1>'),
  REGEXP_REPLACE(s, '\s+', '_'),
  REGEXP_REPLACE(s, '[', 'x'),
  REGEXP(s, '['),
  REGEXP_COUNT(s, '['),
  REGEXP_EXTRACT(s, '[', 0)
FROM strs;
