CREATE TABLE ltz (
  id INT, k STRING, v INT, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ltz.json',
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
SELECT k, window_start, window_end, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE ltz, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end;
