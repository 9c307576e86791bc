CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  k STRING, ws TIMESTAMP(3), a INT, ad DOUBLE
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT w.k, w.window_start AS ws, AVG(w.v) AS a, AVG(w.d) AS ad FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '90' SECOND)) AS w WHERE w.v IS NOT NULL AND w.k <> 'c' GROUP BY w.k, w.window_start, w.window_end;
