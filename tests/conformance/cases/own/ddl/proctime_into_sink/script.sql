CREATE TABLE e (id INT, pt AS PROCTIME()) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE snk (
  id INT, pt TIMESTAMP_LTZ(3)
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, pt FROM e WHERE id < 5;
