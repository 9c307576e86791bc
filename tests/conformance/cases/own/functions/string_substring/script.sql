CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 STRING, c2 STRING, c3 STRING, c4 STRING, c5 STRING, c6 STRING, c7 STRING, c8 STRING, c9 STRING, c10 STRING, c11 STRING, c12 STRING, c13 STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  SUBSTRING(s FROM 2),
  SUBSTRING(s FROM 2 FOR 3),
  SUBSTR(s, 2),
  SUBSTR(s, -3),
  SUBSTR(s, 0),
  SUBSTR(s, 0, 2),
  SUBSTR(s, -3, 2),
  SUBSTRING(s, 4, 100),
  SUBSTRING(s, 100),
  SUBSTR(s, 2, 0),
  SUBSTR(s, n),
  SUBSTR(s, -100, 3),
  SUBSTR(s, 2, -1)
FROM strs;
