SET 'table.local-time-zone' = 'Asia/Kolkata';
CREATE TABLE dayltz (
  id INT, k STRING, v INT, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3),
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH (
  'connector'='filesystem',
  'path'='${IN}/dayltz.json',
  'format'='json'
);
CREATE TABLE snk (
  k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), rt STRING, c BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT k, SESSION_START(ts, INTERVAL '2' HOUR) AS ws, SESSION_END(ts, INTERVAL '2' HOUR) AS we, CAST(SESSION_ROWTIME(ts, INTERVAL '2' HOUR) AS STRING) AS rt, COUNT(*) AS c FROM dayltz GROUP BY k, SESSION(ts, INTERVAL '2' HOUR);
