CREATE TABLE c (id INT, a STRING, b STRING) WITH ('connector'='filesystem', 'path'='${IN}/c.csv', 'format'='csv');
CREATE TABLE snk (
  id INT, a STRING, b STRING, la INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, a, b, CHAR_LENGTH(a) AS la FROM c;
