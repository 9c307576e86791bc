CREATE TABLE c (id INT, name STRING, amount DOUBLE, note STRING) WITH ('connector'='filesystem', 'path'='${IN}/c.csv', 'format'='csv', 'csv.field-delimiter'=';', 'csv.quote-character'='''', 'csv.null-literal'='n/a', 'csv.allow-comments'='true', 'csv.ignore-parse-errors'='true');
CREATE TABLE snk (
  id INT, name STRING, amount DOUBLE, note STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, name, amount, note FROM c;
