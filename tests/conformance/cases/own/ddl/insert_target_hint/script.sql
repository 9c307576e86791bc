CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, k STRING, ts TIMESTAMP(3)
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk /*+ OPTIONS('json.encode.ignore-null-fields'='true', 'json.timestamp-format.standard'='ISO-8601') */ SELECT id, k, ts FROM ev WHERE id < 6;
