CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE VIEW u AS SELECT k, v, ts FROM ev WHERE v > 3 UNION ALL SELECT 'all', v, ts FROM ev;
CREATE TABLE snk (
  k STRING, window_start TIMESTAMP(3), c BIGINT, s INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT k, window_start, COUNT(*) AS c, SUM(v) AS s FROM TABLE(TUMBLE(TABLE u, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end;
