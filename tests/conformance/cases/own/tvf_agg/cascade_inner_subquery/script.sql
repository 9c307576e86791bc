CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  ws TIMESTAMP(3), c BIGINT, s INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk WITH w AS (SELECT k, window_time AS rt, COUNT(*) AS c, SUM(v) AS s FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '30' SECOND)) GROUP BY k, window_start, window_end, window_time) SELECT window_start, SUM(c), SUM(s) FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(rt), INTERVAL '2' MINUTE)) GROUP BY window_start, window_end;
