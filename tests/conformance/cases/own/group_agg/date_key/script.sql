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
  d DATE, c BIGINT, s INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT CAST(ts AS DATE) AS d, COUNT(*) AS c, SUM(v) AS s FROM days GROUP BY CAST(ts AS DATE);
