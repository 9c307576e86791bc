CREATE TABLE e (id INT, k STRING, extra STRING, v INT, ts TIMESTAMP(3)) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
ALTER TABLE e RENAME TO e2;
ALTER TABLE e2 RENAME extra TO more;
CREATE TABLE snk (
  id INT, k STRING, more STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, k, more FROM e2 WHERE id < 4;
