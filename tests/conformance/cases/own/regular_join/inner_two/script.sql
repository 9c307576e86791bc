CREATE TABLE orders (
  order_id INT, cust STRING, amount DECIMAL(10, 2), currency STRING, order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' MINUTE
) WITH (
  'connector'='filesystem',
  'path'='${IN}/orders.csv',
  'format'='csv',
  'csv.null-literal'=''
);
CREATE TABLE cust (cust STRING, region STRING) WITH ('connector'='filesystem', 'path'='${IN}/cust.csv', 'format'='csv');
CREATE TABLE snk (
  order_id INT, cust STRING, region STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT o.order_id, o.cust, c.region FROM orders AS o JOIN cust AS c ON o.cust = c.cust AND o.amount > 1;
