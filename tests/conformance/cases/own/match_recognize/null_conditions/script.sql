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
  symbol STRING, a BIGINT, n BIGINT, c BIGINT
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
  MEASURES A.tax AS a, COUNT(*) AS n, C.price AS c
  AFTER MATCH SKIP TO NEXT ROW
  PATTERN (A B+ C)
  DEFINE B AS B.price > 5 AND B.price < 9, C AS C.price IS NULL OR C.price > LAST(B.price) + 2
);
