CREATE TABLE e (id INT, v INT, ts TIMESTAMP_LTZ(3), x STRING) WITH ('connector'='filesystem', 'path'='${IN}/j.json', 'format'='json', 'json.ignore-parse-errors'='true', 'json.timestamp-format.standard'='ISO-8601');
CREATE TABLE snk (
  id INT, v INT, ts TIMESTAMP_LTZ(3), x STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, v, ts, x FROM e;
