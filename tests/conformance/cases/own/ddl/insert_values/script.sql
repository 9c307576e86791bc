CREATE TABLE snk (
  id INT, name STRING, x DOUBLE
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk VALUES (1, 'a', 1.5), (2, CAST(NULL AS STRING), 2), (3, 'it''s', -0.5);
