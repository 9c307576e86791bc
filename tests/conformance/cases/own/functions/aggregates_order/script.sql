CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  c1 INT, c2 INT, c3 INT, c4 INT, c5 STRING, c6 STRING, c7 ARRAY<INT>, c8 ARRAY<INT>, c9 VARCHAR(2000), c10 VARCHAR(2000), c11 VARCHAR(2000), c12 VARCHAR(2000), c13 STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  FIRST_VALUE(id),
  LAST_VALUE(id),
  FIRST_VALUE(n),
  LAST_VALUE(n),
  LISTAGG(s),
  LISTAGG(CAST(id AS STRING), '|'),
  ARRAY_AGG(id),
  ARRAY_AGG(n),
  JSON_ARRAYAGG(n),
  JSON_ARRAYAGG(n NULL ON NULL),
  JSON_OBJECTAGG(KEY CAST(id AS STRING) VALUE n),
  JSON_OBJECTAGG(KEY CAST(id AS STRING) VALUE n ABSENT ON NULL),
  LISTAGG(s, '')
FROM strs;
