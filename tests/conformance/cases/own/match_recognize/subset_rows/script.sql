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
  symbol STRING, p BIGINT, s BIGINT
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
  MEASURES LAST(S.price) AS p, SUM(S.price) AS s
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B C)
  SUBSET S = (A, B)
  DEFINE B AS B.price > A.price
);
