CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  window_start TIMESTAMP(3), p50 DOUBLE, p90 DOUBLE, pa ARRAY<DOUBLE>
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT window_start, PERCENTILE(v, 0.5) AS p50, PERCENTILE(d, 0.9) AS p90, PERCENTILE(v, ARRAY[0.0, 0.25, 1.0]) AS pa FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '2' MINUTE)) GROUP BY window_start, window_end;
