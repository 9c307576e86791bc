CREATE TABLE c (id INT, v INT) WITH ('connector'='filesystem', 'path'='${IN}/c.csv', 'format'='csv');
CREATE TABLE snk (
  id INT, v INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, v FROM c;
