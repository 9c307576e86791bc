SET 'table.local-time-zone' = 'America/Los_Angeles';
CREATE TABLE dayltz (
  id INT, k STRING, v INT, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3),
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH (
  'connector'='filesystem',
  'path'='${IN}/dayltz.json',
  'format'='json'
);
CREATE VIEW h AS SELECT window_time AS rt, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE dayltz, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, window_time;
CREATE TABLE snk (
  window_start TIMESTAMP(3), c BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT window_start, SUM(c) AS c FROM TABLE(TUMBLE(TABLE h, DESCRIPTOR(rt), INTERVAL '1' DAY)) GROUP BY window_start, window_end;
