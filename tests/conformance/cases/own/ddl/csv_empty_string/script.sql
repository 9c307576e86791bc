CREATE TABLE c (a STRING, b STRING) WITH ('connector'='filesystem', 'path'='${IN}/c.csv', 'format'='csv');
CREATE TABLE snk (
  a STRING, b STRING, an BOOLEAN, be BOOLEAN
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT a, b, a IS NULL AS an, b = '' AS be FROM c;
