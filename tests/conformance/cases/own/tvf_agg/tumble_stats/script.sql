CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  window_start TIMESTAMP(3), a DOUBLE, b DOUBLE, c DOUBLE, e DOUBLE, f INT, g INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT window_start, STDDEV_POP(d) AS a, STDDEV_SAMP(d) AS b, VAR_POP(d) AS c, VAR_SAMP(d) AS e, STDDEV_POP(v) AS f, VAR_SAMP(v) AS g FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '2' MINUTE)) GROUP BY window_start, window_end;
