CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 BOOLEAN, c2 BOOLEAN, c3 INT, c4 INT, c5 BOOLEAN
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  RAND() >= 0 AND RAND() < 1,
  RAND_INTEGER(10) BETWEEN 0 AND 9,
  CHAR_LENGTH(UUID()),
  RAND_INTEGER(1),
  RAND(42) < 1
FROM strs;
