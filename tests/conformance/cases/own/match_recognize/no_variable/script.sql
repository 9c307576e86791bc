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
  symbol STRING, p BIGINT, q BIGINT, n BIGINT
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
  MEASURES LAST(price) AS p, FIRST(price, 1) AS q, SUM(price) AS n
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B C)
  DEFINE B AS price > LAST(A.price), C AS LAST(price, 1) < price
);
