CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  k STRING, window_start TIMESTAMP(3), s INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
WITH pos AS (SELECT * FROM ev WHERE v > 0), w AS (SELECT k, window_start, window_end, SUM(v) AS s FROM TABLE(TUMBLE(TABLE pos, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end) SELECT k, window_start, s FROM w WHERE s > 5;
