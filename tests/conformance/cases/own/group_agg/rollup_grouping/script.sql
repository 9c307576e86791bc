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
  category STRING, pid INT, g1 BIGINT, g2 BIGINT, gi BIGINT, s INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT category, pid, GROUPING(category) AS g1, GROUPING(pid) AS g2, GROUPING_ID(category, pid) AS gi, SUM(sales) AS s FROM products GROUP BY ROLLUP (category, pid);
