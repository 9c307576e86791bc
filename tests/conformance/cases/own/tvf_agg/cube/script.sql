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
  window_start TIMESTAMP(3), window_end TIMESTAMP(3), item STRING, supplier_id STRING, total DECIMAL(38, 2)
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT window_start, window_end, item, supplier_id, SUM(price) AS total FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES)) GROUP BY window_start, window_end, CUBE (supplier_id, item);
