CREATE TABLE Ticker (
  symbol STRING, price BIGINT, tax BIGINT, rowtime TIMESTAMP(3),
  WATERMARK FOR rowtime AS rowtime - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ticker.csv',
  'format'='csv',
  'csv.null-literal'=''
);
CREATE TABLE snk (
  symbol STRING, a BIGINT, b BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT *
FROM Ticker
MATCH_RECOGNIZE (
  PARTITION BY symbol
  ORDER BY rowtime
  MEASURES A.price AS a, B.price AS b
  AFTER MATCH SKIP TO NEXT ROW
  PATTERN (A B)
  DEFINE B AS TIMESTAMPDIFF(SECOND, A.rowtime, B.rowtime) > 1 AND B.rowtime < A.rowtime + INTERVAL '3' SECOND
);
