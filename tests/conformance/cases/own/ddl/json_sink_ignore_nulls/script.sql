CREATE TABLE e (id INT, k STRING, v INT, ts TIMESTAMP(3)) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE s2 (id INT, k STRING, ts TIMESTAMP(3), n DECIMAL(20, 4)) WITH ('connector'='filesystem', 'path'='${OUT}/s2', 'format'='json', 'json.encode.ignore-null-fields'='true', 'json.timestamp-format.standard'='ISO-8601', 'json.encode.decimal-as-plain-number'='true');
INSERT INTO s2 SELECT id, k, ts, v * 1000000.5 FROM e WHERE id < 8;
CREATE TABLE snk (
  id INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id FROM e WHERE id < 3;
