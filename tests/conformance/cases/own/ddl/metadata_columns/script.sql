CREATE TABLE e (id INT, k STRING, `file.name` STRING NOT NULL METADATA, sz BIGINT METADATA FROM 'file.size' VIRTUAL, p STRING METADATA FROM 'file.path') WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE snk (
  id INT, f STRING, sz BIGINT, pp BOOLEAN
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, `file.name` AS f, sz, p LIKE '%/ev.json' AS pp FROM e WHERE id < 4;
