CREATE TABLE c (k STRING, v INT) WITH ('connector'='filesystem', 'path'='${IN}/dir', 'format'='csv');
CREATE TABLE snk (
  k STRING, s INT, c BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT k, SUM(v) AS s, COUNT(*) AS c FROM c GROUP BY k;
