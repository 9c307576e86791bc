CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE VIEW w1 AS SELECT window_time AS rt, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '20' SECOND)) GROUP BY window_start, window_end, window_time;
CREATE TABLE snk (
  ws TIMESTAMP(3), c BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT TUMBLE_START(rt, INTERVAL '1' MINUTE) AS ws, SUM(c) AS c FROM w1 GROUP BY TUMBLE(rt, INTERVAL '1' MINUTE);
