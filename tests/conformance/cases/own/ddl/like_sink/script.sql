CREATE TABLE first1 (
  id INT, k STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/first1',
  'format'='json'
);
CREATE TABLE e (id INT, k STRING) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE second1 WITH ('path'='${OUT}/second1') LIKE first1;
INSERT INTO second1 SELECT id, k FROM e WHERE id < 3;
CREATE TABLE snk (
  id INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id FROM e WHERE id < 2;
