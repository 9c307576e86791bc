CREATE TABLE t (
  g INT, s STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/t.json',
  'format'='json'
);
CREATE TABLE snk (
  g INT, c1 STRING, c2 MULTISET<VARCHAR(1)>, c3 MULTISET<CHAR(4)>
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT g, CAST(CAST(COLLECT(s) AS MULTISET<VARCHAR(1)>) AS STRING), CAST(COLLECT(s) AS MULTISET<VARCHAR(1)>), CAST(COLLECT(s) AS MULTISET<CHAR(4)>)
FROM t GROUP BY g;
