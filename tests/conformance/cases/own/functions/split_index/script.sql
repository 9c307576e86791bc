CREATE TABLE t (
  id INT, s STRING, e STRING, x STRING, i INT
) WITH (
  'connector'='filesystem',
  'path'='${IN}/t.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 STRING, c2 STRING, c3 STRING, c4 STRING, c5 STRING, c6 STRING, c7 STRING, c8 STRING, c9 STRING, c10 STRING, c11 STRING, c12 STRING, c13 STRING, c14 STRING, c15 STRING, c16 STRING, c17 STRING, c18 STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  SPLIT_INDEX(s, '', 0),
  SPLIT_INDEX(s, '', 1),
  SPLIT_INDEX(s, '', 2),
  SPLIT_INDEX(s, '', -1),
  SPLIT_INDEX(s, e, 0),
  SPLIT_INDEX(s, e, 1),
  SPLIT_INDEX(s, ' ', 0),
  SPLIT_INDEX(s, ' ', 1),
  SPLIT_INDEX(s, 32, 1),
  SPLIT_INDEX(s, 44, 0),
  SPLIT_INDEX(s, 44, 2),
  SPLIT_INDEX(s, 44, 9),
  SPLIT_INDEX(s, ',', -1),
  SPLIT_INDEX(s, ',', i),
  SPLIT_INDEX(s, CAST(NULL AS STRING), 0),
  SPLIT_INDEX(s, ',', CAST(NULL AS INT)),
  SPLIT_INDEX(s, x, 0),
  SPLIT_INDEX(s, 'b,', 1)
FROM t;
