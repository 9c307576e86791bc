CREATE TABLE e (id INT, k STRING, v INT, ts TIMESTAMP(3)) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE log (
  id INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/log',
  'format'='json'
);
INSERT INTO log SELECT id FROM e WHERE id < 3;
INSERT INTO log SELECT id + 100 FROM e WHERE id < 3;
CREATE TABLE snk (
  id INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id FROM e WHERE id = 1;
