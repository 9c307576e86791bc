CREATE TABLE orders (
  order_id INT, cust STRING, amount DECIMAL(10, 2), currency STRING, order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' MINUTE
) WITH (
  'connector'='filesystem',
  'path'='${IN}/orders.csv',
  'format'='csv',
  'csv.null-literal'=''
);
CREATE TABLE snk (
  currency STRING, n BIGINT, s DECIMAL(38, 2), a DECIMAL(38, 6), m TIMESTAMP(3)
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT currency, COUNT(*) AS n, SUM(amount) AS s, AVG(amount) AS a, MAX(order_time) AS m FROM orders GROUP BY currency;
