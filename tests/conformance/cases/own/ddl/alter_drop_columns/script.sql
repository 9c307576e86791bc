CREATE TABLE e (id INT, k STRING, v INT, ts TIMESTAMP(3)) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
ALTER TABLE e DROP (k, v);
CREATE TABLE snk (
  id INT, ts TIMESTAMP(3)
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT * FROM e WHERE id < 4;
