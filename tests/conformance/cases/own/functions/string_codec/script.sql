CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 STRING, c2 STRING, c3 STRING, c4 STRING, c5 STRING, c6 STRING, c7 BYTES, c8 STRING, c9 BYTES, c10 BYTES, c11 STRING, c12 STRING, c13 STRING, c14 STRING, c15 STRING, c16 BYTES, c17 STRING, c18 STRING, c19 STRING, c20 STRING, c21 STRING, c22 STRING, c23 STRING, c24 BIGINT, c25 STRING, c26 BIGINT, c27 STRING, c28 STRING, c29 STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  TO_BASE64(s),
  FROM_BASE64(TO_BASE64(s)),
  FROM_BASE64('aGVsbG8='),
  HEX(n),
  HEX(s),
  HEX(255),
  UNHEX('48656C6C6F'),
  DECODE(UNHEX('48656C6C6F'), 'UTF-8'),
  UNHEX('zz'),
  UNHEX('123'),
  BIN(n),
  BIN(4),
  DECODE(ENCODE(s, 'UTF-8'), 'UTF-8'),
  DECODE(ENCODE(s, 'UTF-16LE'), 'UTF-16LE'),
  HEX(DECODE(ENCODE('A', 'UTF-8'), 'UTF-8')),
  ENCODE(s, 'UTF-8'),
  URL_ENCODE(u),
  URL_DECODE(URL_ENCODE(s)),
  URL_DECODE('a%20b+c'),
  URL_ENCODE('a b&c=ü'),
  URL_DECODE('%'),
  PRINTF('%s-%d-%5.2f', s, id, x),
  PRINTF('%05d', id),
  INET_ATON('192.168.0.1'),
  INET_NTOA(3232235521),
  INET_ATON(s),
  JSON_QUOTE(s),
  JSON_UNQUOTE('"a\nb"'),
  JSON_UNQUOTE(s)
FROM strs;
