CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  window_start TIMESTAMP(3), kk STRING, m INT, c BIGINT, mx DOUBLE
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT window_start, UPPER(COALESCE(k, 'none')) AS kk, MOD(v, 3) AS m, COUNT(*) AS c, MAX(d) AS mx FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, UPPER(COALESCE(k, 'none')), MOD(v, 3);
