CREATE TABLE c (id INT, v INT, w STRING) WITH ('connector'='filesystem', 'path'='${IN}/c.csv', 'format'='csv', 'csv.ignore-parse-errors'='true');
CREATE TABLE snk (
  id INT, v INT, w STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, v, w FROM c;
