CREATE TABLE t (
  id INT, s STRING, sx ARRAY<STRING>, m MAP<STRING, STRING>, r ROW<x STRING, y STRING>, ts ARRAY<TIMESTAMP(3)>
) WITH (
  'connector'='filesystem',
  'path'='${IN}/t.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 ROW<a VARCHAR(1), b STRING>, c2 ROW<x VARCHAR(1), y STRING>, c3 ARRAY<VARCHAR(1)>, c4 MAP<STRING, VARCHAR(1)>, c5 MAP<VARCHAR(1), STRING>, c6 ARRAY<TIMESTAMP(0)>, c7 ARRAY<ROW<a VARCHAR(2), b ARRAY<VARCHAR(1)>>>
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  ROW(s, s),
  r,
  sx,
  m,
  m,
  ts,
  ARRAY[ROW(s, sx)]
FROM t;
