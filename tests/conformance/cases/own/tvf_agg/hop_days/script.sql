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
  k STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), c BIGINT, s INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT k, window_start, window_end, COUNT(*) AS c, SUM(v) AS s FROM TABLE(HOP(TABLE days, DESCRIPTOR(ts), INTERVAL '12' HOUR, INTERVAL '2' DAY)) GROUP BY k, window_start, window_end;
