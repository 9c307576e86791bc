CREATE TABLE e (id INT) WITH ('connector'='filesystem', 'path'='${IN}/none.json', 'format'='json');
CREATE TEMPORARY TABLE e (id INT, k STRING) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE snk (
  id INT, k STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, k FROM e WHERE id < 3;
