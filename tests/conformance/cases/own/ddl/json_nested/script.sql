CREATE TABLE e (id INT, r ROW<a INT, b ROW<c STRING, d ARRAY<INT>>>, aa ARRAY<ARRAY<INT>>, mr MAP<STRING, ROW<x INT>>) WITH ('connector'='filesystem', 'path'='${IN}/j.json', 'format'='json');
CREATE TABLE snk (
  id INT, c STRING, d1 INT, aa21 INT, x INT, r ROW<a INT, b ROW<c STRING, d ARRAY<INT>>>, aa ARRAY<ARRAY<INT>>, mr MAP<STRING, ROW<x INT>>
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, r.b.c AS c, r.b.d[1] AS d1, aa[2][1] AS aa21, mr['k'].x AS x, r, aa, mr FROM e;
