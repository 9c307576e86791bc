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
  symbol STRING, a BIGINT, n BIGINT, m BIGINT, c BIGINT
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
  MEASURES A.price AS a, COUNT(B.price) AS n, COUNT(D.price) AS m, C.price AS c
  AFTER MATCH SKIP TO NEXT ROW
  PATTERN (A B{1,2}? D{0,2}? C)
  DEFINE B AS B.price > 15, D AS D.price > 12, C AS C.tax = 1
);
