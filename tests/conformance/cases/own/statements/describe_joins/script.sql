CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE orders (
  order_id INT, cust STRING, amount DECIMAL(10, 2), currency STRING, order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' MINUTE
) WITH (
  'connector'='filesystem',
  'path'='${IN}/orders.csv',
  'format'='csv',
  'csv.null-literal'=''
);
CREATE VIEW a AS SELECT e.id, o.order_id, o.amount, e.ts FROM ev e LEFT JOIN orders o ON e.id = o.order_id;
DESCRIBE a;
CREATE VIEW b AS SELECT k, v, ts FROM ev UNION ALL SELECT cust, order_id, order_time FROM orders;
DESCRIBE b;
CREATE VIEW c AS SELECT ts AS rt, k AS kk FROM (SELECT * FROM ev WHERE v > 1) AS s;
DESCRIBE c;
CREATE VIEW d AS SELECT DISTINCT k, ts FROM ev;
DESCRIBE d;
CREATE VIEW e AS SELECT k, MAX(v) AS mv FROM ev GROUP BY k HAVING COUNT(*) > 1;
DESCRIBE e;
CREATE VIEW f AS SELECT ts, PROCTIME() AS p, CAST(ts AS TIMESTAMP(3)) AS t2, ts + INTERVAL '1' SECOND AS t4 FROM ev;
DESCRIBE f;
CREATE VIEW g AS SELECT id, x FROM ev CROSS JOIN UNNEST(ARRAY[1, v]) AS t (x);
DESCRIBE g;
