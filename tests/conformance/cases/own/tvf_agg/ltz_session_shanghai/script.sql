SET 'table.local-time-zone' = 'Asia/Shanghai';
CREATE TABLE dayltz (
  id INT, k STRING, v INT, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3),
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH (
  'connector'='filesystem',
  'path'='${IN}/dayltz.json',
  'format'='json'
);
CREATE TABLE snk (
  k STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), c BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT k, window_start, window_end, COUNT(*) AS c FROM TABLE(SESSION(TABLE dayltz PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' HOUR)) GROUP BY k, window_start, window_end;
