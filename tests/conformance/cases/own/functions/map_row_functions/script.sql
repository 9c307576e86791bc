CREATE TABLE typed (
  id INT, ti TINYINT, si SMALLINT, i INT, bi BIGINT, f FLOAT, d DOUBLE, de DECIMAL(12, 4), b BOOLEAN, s STRING, c5 CHAR(5), v5 VARCHAR(5), dt DATE, tm TIME(0), t3 TIMESTAMP(3), t6 TIMESTAMP(6), lt TIMESTAMP_LTZ(3), ai ARRAY<INT>, m MAP<STRING, INT>, r ROW<a INT, b STRING>, byt VARBINARY(10)
) WITH (
  'connector'='filesystem',
  'path'='${IN}/typed.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 ARRAY<CHAR(1) NOT NULL>, c2 ARRAY<INT NOT NULL>, c3 ARRAY<ROW<`key` CHAR(1) NOT NULL, `value` INT NOT NULL>>, c4 MAP<CHAR(1) NOT NULL, INT NOT NULL>, c5 MAP<STRING, INT>, c6 INT, c7 INT, c8 INT, c9 MAP<CHAR(1) NOT NULL, INT>, c10 CHAR(1), c11 INT, c12 STRING, c13 STRING, c14 ROW<EXPR$0 INT, EXPR$1 STRING>, c15 ROW<EXPR$0 INT NOT NULL, EXPR$1 CHAR(1) NOT NULL, EXPR$2 BOOLEAN NOT NULL>, c16 ROW<EXPR$0 INT, EXPR$1 STRING>, c17 ROW<p BIGINT, q STRING>, c18 BOOLEAN, c19 BOOLEAN, c20 MAP<STRING, STRING>, c21 MAP<STRING, STRING>, c22 MAP<STRING, STRING>, c23 MAP<STRING, STRING>, c24 BOOLEAN, c25 BOOLEAN, c26 ARRAY<STRING>, c27 ARRAY<INT>
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  MAP_KEYS(MAP['a', 1]),
  MAP_VALUES(MAP['a', 1]),
  MAP_ENTRIES(MAP['a', 1]),
  MAP_FROM_ARRAYS(ARRAY['x', 'y'], ARRAY[1, 2]),
  MAP_UNION(m, MAP['q', 9]),
  m['a'],
  m['zz'],
  CARDINALITY(m),
  MAP['a', i, 'b', 2],
  MAP[1, 'x'][1],
  r.a,
  r.b,
  typed.r.b,
  ROW(i, s),
  ROW(1, 'x', TRUE),
  (i, s),
  CAST(ROW(1, 'x') AS ROW<p BIGINT, q STRING>),
  r = ROW(42, 'x,y'),
  r IS NULL,
  STR_TO_MAP('a=1,b=2'),
  STR_TO_MAP('a:1;b:2', ';', ':'),
  STR_TO_MAP(s),
  STR_TO_MAP('k1,k2=2'),
  m = MAP['k', 0],
  MAP_KEYS(m) IS NULL,
  ARRAY_SORT(MAP_KEYS(m)),
  ARRAY_SORT(MAP_VALUES(m))
FROM typed;
