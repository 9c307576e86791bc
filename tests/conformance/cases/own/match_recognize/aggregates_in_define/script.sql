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
  symbol STRING, n BIGINT, s BIGINT, m BIGINT, x BIGINT, y BIGINT, b BIGINT
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
  MEASURES COUNT(*) AS n, SUM(A.price * A.tax) AS s, AVG(A.price) AS m, MIN(A.price) AS x, MAX(A.price) AS y, B.price AS b
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A+ B)
  DEFINE A AS AVG(A.price) < 20 AND COUNT(A.price) < 4, B AS SUM(B.price) > MIN(A.price)
);
