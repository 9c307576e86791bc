CREATE TABLE e (id INT, `Name` STRING, name STRING, n STRING, b BOOLEAN, de DECIMAL(6, 2), dt DATE, tm TIME) WITH ('connector'='filesystem', 'path'='${IN}/j.json', 'format'='json');
CREATE TABLE snk (
  id INT, c2 STRING, name STRING, n STRING, b BOOLEAN, de DECIMAL(6, 2), dt DATE, tm TIME(0)
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT * FROM e;
