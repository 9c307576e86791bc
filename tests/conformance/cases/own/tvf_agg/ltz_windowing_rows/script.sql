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
  id INT, window_start TIMESTAMP(3), window_end TIMESTAMP(3), wt STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, window_start, window_end, CAST(window_time AS STRING) AS wt FROM TABLE(TUMBLE(TABLE dayltz, DESCRIPTOR(ts), INTERVAL '1' DAY));
