CREATE TABLE t (
  id INT, k MAP<STRING, INT>
) WITH (
  'connector'='filesystem',
  'path'='${IN}/t.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 MAP<VARCHAR(2), INT>, c2 MAP<VARCHAR(1), STRING>, c3 INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  CAST(k AS MAP<VARCHAR(2), INT>),
  CAST(MAP[11, 'a', 12, 'b'] AS MAP<VARCHAR(1), STRING>),
  CAST(CARDINALITY(CAST(k AS MAP<VARCHAR(2), INT>)) AS INT)
FROM t;
