CREATE TABLE e (id INT, m TIMESTAMP_LTZ(3) NOT NULL METADATA FROM 'file.modification-time') WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE snk (
  id INT, ok BOOLEAN
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, m > TO_TIMESTAMP_LTZ(0, 3) AS ok FROM e WHERE id < 3;
