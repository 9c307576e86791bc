CREATE TABLE c (id INT, tags ARRAY<STRING>, n ARRAY<INT>) WITH ('connector'='filesystem', 'path'='${IN}/c.csv', 'format'='csv', 'csv.field-delimiter'='	', 'csv.array-element-delimiter'='|');
CREATE TABLE snk (
  id INT, tags ARRAY<STRING>, n ARRAY<INT>
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, tags, n FROM c;
