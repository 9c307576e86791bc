CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  window_start TIMESTAMP(3), a STRING, b STRING, c TIMESTAMP(3), e DATE, f BOOLEAN, g TIME(0)
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT window_start, MIN(k) AS a, MAX(k) AS b, MIN(ts) AS c, MAX(CAST(ts AS DATE)) AS e, MAX(v > 5) AS f, MIN(CAST(ts AS TIME)) AS g FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
