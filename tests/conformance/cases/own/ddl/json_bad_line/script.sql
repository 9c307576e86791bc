CREATE TABLE e (id INT, v INT) WITH ('connector'='filesystem', 'path'='${IN}/j.json', 'format'='json');
CREATE TABLE snk (
  id INT, v INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, v FROM e;
