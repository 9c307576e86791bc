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
  symbol STRING, f0 BIGINT, f1 BIGINT, l1 BIGINT, l9 BIGINT, a BIGINT
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
  MEASURES FIRST(B.price) AS f0, FIRST(B.price, 1) AS f1, LAST(B.price, 1) AS l1, LAST(B.price, 9) AS l9, LAST(A.price + A.tax) AS a
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B{3})
  DEFINE B AS B.price > LAST(B.price, 1) OR LAST(B.price, 1) IS NULL
);
