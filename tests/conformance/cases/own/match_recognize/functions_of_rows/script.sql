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
  symbol STRING, u STRING, d BIGINT
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
  MEASURES UPPER(A.symbol) || '!' AS u, B.price - A.price AS d
  AFTER MATCH SKIP TO NEXT ROW
  PATTERN (A B)
  DEFINE A AS MOD(A.price, 2) = 1, B AS CASE WHEN B.price > A.price THEN B.tax ELSE A.tax END BETWEEN 1 AND 2 AND CHAR_LENGTH(B.symbol) > 3
);
