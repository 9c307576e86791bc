CREATE TABLE t (
  id INT, s STRING, n INT
) WITH (
  'connector'='filesystem',
  'path'='${IN}/t.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 STRING, c2 STRING, c3 STRING, c4 STRING, c5 STRING, c6 STRING, c7 STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  SPLIT_INDEX(s, 0, 0),
  SPLIT_INDEX(s, 256, 0),
  SPLIT_INDEX(s, -1, 0),
  SPLIT_INDEX(s, 255, 0),
  SPLIT_INDEX(s, 254, 1),
  SPLIT_INDEX(s, n, 1),
  SPLIT_INDEX(s, 228, 1)
FROM t;
