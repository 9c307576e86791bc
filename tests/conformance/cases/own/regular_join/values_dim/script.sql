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
  order_id INT, name VARCHAR(6)
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT o.order_id, d.name FROM orders o JOIN (VALUES ('EUR', 'Euro'), ('USD', 'Dollar')) AS d (cur, name) ON o.currency = d.cur;
