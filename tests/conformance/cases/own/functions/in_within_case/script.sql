CREATE TABLE a (id INT, k STRING) WITH ('connector'='filesystem', 'path'='${IN}/a', 'format'='json');
CREATE TABLE b (id INT) WITH ('connector'='filesystem', 'path'='${IN}/b', 'format'='json');
CREATE TABLE snk (id INT, k STRING, c STRING, d STRING, e STRING) WITH ('connector'='filesystem', 'path'='${OUT}/snk', 'format'='json');
INSERT INTO snk
SELECT id, k, CASE WHEN id IN (SELECT id FROM b) THEN 'in' ELSE 'out' END,
  CASE WHEN k = 'x' THEN 'x' WHEN id IN (SELECT id FROM b) AND k = 'w' THEN 'w' END,
  IF(id IN (SELECT id FROM b), 'in', 'out')
FROM a;
