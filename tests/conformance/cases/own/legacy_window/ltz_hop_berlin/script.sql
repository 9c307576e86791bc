SET 'table.local-time-zone' = 'Europe/Berlin';
CREATE TABLE dayltz (
  id INT, k STRING, v INT, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3),
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH (
  'connector'='filesystem',
  'path'='${IN}/dayltz.json',
  'format'='json'
);
CREATE TABLE snk (
  ws TIMESTAMP(3), we TIMESTAMP(3), c BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT HOP_START(ts, INTERVAL '12' HOUR, INTERVAL '1' DAY) AS ws, HOP_END(ts, INTERVAL '12' HOUR, INTERVAL '1' DAY) AS we, COUNT(*) AS c FROM dayltz GROUP BY HOP(ts, INTERVAL '12' HOUR, INTERVAL '1' DAY);
