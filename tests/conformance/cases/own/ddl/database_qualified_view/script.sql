CREATE DATABASE d1 COMMENT 'x' WITH ('a'='b');
CREATE TABLE d1.e (id INT, k STRING) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE VIEW d1.w AS SELECT id, k FROM d1.e WHERE id < 4;
CREATE TABLE snk (
  id INT, k STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, k FROM default_catalog.d1.w;
