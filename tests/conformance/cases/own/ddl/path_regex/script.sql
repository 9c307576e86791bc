CREATE TABLE c (k STRING, v INT) WITH ('connector'='filesystem', 'path'='${IN}/dir', 'format'='csv', 'source.path.regex-pattern'='.*/b.*\.csv');
CREATE TABLE snk (
  k STRING, v INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT k, v FROM c;
