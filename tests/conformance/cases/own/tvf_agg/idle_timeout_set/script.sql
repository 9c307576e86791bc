CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
SET 'table.exec.source.idle-timeout'='10 s';
SET 'pipeline.auto-watermark-interval'='200 ms';
CREATE TABLE snk (
  k STRING, window_start TIMESTAMP(3), c BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT k, window_start, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end;
