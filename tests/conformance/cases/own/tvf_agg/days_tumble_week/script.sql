CREATE TABLE days (
  id INT, k STRING, v INT, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH (
  'connector'='filesystem',
  'path'='${IN}/days.csv',
  'format'='csv',
  'csv.null-literal'=''
);
CREATE TABLE snk (
  window_start TIMESTAMP(3), window_end TIMESTAMP(3), c BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT window_start, window_end, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE days, DESCRIPTOR(ts), INTERVAL '7' DAY)) GROUP BY window_start, window_end;
