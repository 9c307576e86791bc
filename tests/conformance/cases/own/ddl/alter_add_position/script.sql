CREATE TABLE e (id INT, ts TIMESTAMP(3)) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
ALTER TABLE e ADD (k STRING FIRST, v INT AFTER id, vv AS v * 2);
CREATE TABLE snk (
  k STRING, id INT, v INT, ts TIMESTAMP(3), vv INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT * FROM e WHERE id < 4;
