CREATE TABLE e (id INT, k STRING, v INT, ts TIMESTAMP(3)) WITH ('connector'='filesystem', 'path'='${IN}/none.json', 'format'='json');
ALTER TABLE e SET ('path'='${IN}/ev.json');
CREATE TABLE snk (
  id INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id FROM e WHERE v > 8;
