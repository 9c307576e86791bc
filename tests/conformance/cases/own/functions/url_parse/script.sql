CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 STRING, c2 STRING, c3 STRING, c4 STRING, c5 STRING, c6 STRING, c7 STRING, c8 STRING, c9 STRING, c10 STRING, c11 STRING, c12 STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  PARSE_URL(u, 'HOST'),
  PARSE_URL(u, 'PATH'),
  PARSE_URL(u, 'QUERY'),
  PARSE_URL(u, 'REF'),
  PARSE_URL(u, 'PROTOCOL'),
  PARSE_URL(u, 'FILE'),
  PARSE_URL(u, 'AUTHORITY'),
  PARSE_URL(u, 'USERINFO'),
  PARSE_URL(u, 'QUERY', 'x'),
  PARSE_URL(u, 'QUERY', 'nope'),
  PARSE_URL(u, 'host'),
  PARSE_URL('not a url', 'HOST')
FROM strs;
