CREATE DATABASE d1;
CREATE TABLE d1.e (id INT) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
DROP DATABASE d1 CASCADE;
CREATE DATABASE d1;
CREATE TABLE d1.e (id INT, k STRING) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE snk (
  id INT, k STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, k FROM d1.e WHERE id < 3;
