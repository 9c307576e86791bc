CREATE TABLE Bid (
  bidtime TIMESTAMP(3), price DECIMAL(10, 2), item STRING, supplier_id STRING,
  WATERMARK FOR bidtime AS bidtime - INTERVAL '3' MINUTE
) WITH (
  'connector'='filesystem',
  'path'='${IN}/bid.csv',
  'format'='csv',
  'csv.null-literal'=''
);
CREATE TABLE snk (
  window_start TIMESTAMP(3), supplier_id STRING, s DECIMAL(38, 2), a DECIMAL(38, 6), mn DECIMAL(10, 2), mi STRING, t DECIMAL(38, 3)
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT window_start, supplier_id, SUM(price) AS s, AVG(price) AS a, MIN(price) AS mn, MAX(item) AS mi, SUM(price * 1.1) AS t FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES)) GROUP BY window_start, window_end, supplier_id;
