CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 CHAR(32), c2 CHAR(40), c3 CHAR(56), c4 CHAR(64), c5 CHAR(96), c6 CHAR(128), c7 VARCHAR(128), c8 VARCHAR(128), c9 VARCHAR(128), c10 VARCHAR(128), c11 CHAR(32), c12 CHAR(32)
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  MD5(s),
  SHA1(s),
  SHA224(s),
  SHA256(s),
  SHA384(s),
  SHA512(s),
  SHA2(s, 256),
  SHA2(s, 224),
  SHA2(s, 512),
  SHA2(s, 384),
  MD5(''),
  MD5(u)
FROM strs;
