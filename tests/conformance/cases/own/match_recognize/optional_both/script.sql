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
  symbol STRING, a BIGINT, b BIGINT, c BIGINT
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
  MEASURES A.price AS a, B.price AS b, C.price AS c
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B? C)
  DEFINE B AS B.price > 10, C AS C.price > 12
);
