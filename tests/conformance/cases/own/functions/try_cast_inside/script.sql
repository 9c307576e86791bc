CREATE TABLE t (
  id INT, s STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/t.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 ARRAY<INT>, c2 ROW<a INT, b VARCHAR(1)>, c3 MAP<STRING, INT>, c4 ARRAY<BOOLEAN>, c5 ARRAY<VARCHAR(1)>
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  TRY_CAST(ARRAY[s, '1'] AS ARRAY<INT>),
  TRY_CAST(ROW(s, 'abc') AS ROW<a INT, b VARCHAR(1)>),
  TRY_CAST(MAP['k', s] AS MAP<STRING, INT>),
  TRY_CAST(ARRAY[s] AS ARRAY<BOOLEAN>),
  TRY_CAST(ARRAY[s, 'abc'] AS ARRAY<VARCHAR(1)>)
FROM t;
