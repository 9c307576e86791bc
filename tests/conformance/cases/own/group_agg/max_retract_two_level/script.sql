CREATE TABLE products (
  pid INT, category STRING, name STRING, sales INT, upd TIMESTAMP(3),
  WATERMARK FOR upd AS upd - INTERVAL '1' MINUTE
) WITH (
  'connector'='filesystem',
  'path'='${IN}/products.csv',
  'format'='csv',
  'csv.null-literal'=''
);
CREATE TABLE snk (
  category STRING, m INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT category, MAX(s) AS m FROM (SELECT category, pid, SUM(sales) AS s FROM products GROUP BY category, pid) GROUP BY category;
