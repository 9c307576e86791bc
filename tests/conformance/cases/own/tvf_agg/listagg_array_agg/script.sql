CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  k STRING, window_start TIMESTAMP(3), l STRING, a ARRAY<INT>
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT k, window_start, LISTAGG(CAST(id AS STRING), '|') AS l, ARRAY_AGG(v) AS a FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '2' MINUTE)) GROUP BY k, window_start, window_end;
