CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  window_start TIMESTAMP(3), big INT, r DECIMAL(33, 21), span INT, ck BIGINT, nd BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT window_start, SUM(CASE WHEN v > 5 THEN 1 ELSE 0 END) AS big, SUM(v) * 1.0 / COUNT(*) AS r, MAX(v) - MIN(v) AS span, COUNT(k) AS ck, COUNT(*) - COUNT(d) AS nd FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
