CREATE TABLE e (id INT, pt AS PROCTIME()) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE snk (
  id INT, p BOOLEAN, q BOOLEAN
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, pt IS NOT NULL AS p, pt >= TO_TIMESTAMP_LTZ(0, 3) AS q FROM e WHERE id < 5;
