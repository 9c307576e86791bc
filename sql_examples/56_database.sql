-- A table of a database: rows are replaced by key, read in parts, and looked up.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

-- With a PRIMARY KEY a row replaces the one before. Each micro-batch is one transaction, and is written once.
-- PostgreSQL: 'url' = 'jdbc:postgresql://host:5432/shop', 'username' = 'app', 'password' = 'env:SHOP_PASSWORD'
CREATE TABLE customers (name STRING, orders BIGINT, spent DECIMAL(10, 2), PRIMARY KEY (name) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:${OUT}/shop.db', 'table-name' = 'customers');

INSERT INTO customers
SELECT customer, COUNT(*), CAST(SUM(amount) AS DECIMAL(10, 2)) FROM orders GROUP BY customer;

-- Without one, rows are appended.
CREATE TABLE ledger (order_id INT, item STRING, amount DOUBLE, ts TIMESTAMP(3))
WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:${OUT}/shop.db', 'table-name' = 'ledger');

INSERT INTO ledger SELECT order_id, item, amount, ts FROM orders;

-- Two ranges of order_id are read side by side; rows outside of the bounds are not read.
SELECT item, COUNT(*) AS pieces
FROM ledger /*+ OPTIONS('scan.partition.column' = 'order_id', 'scan.partition.num' = '2',
                      'scan.partition.lower-bound' = '1', 'scan.partition.upper-bound' = '6') */
GROUP BY item;

-- By processing time each order finds the customer's row as it is now.
SELECT o.order_id, c.name, c.orders
FROM (SELECT *, PROCTIME() AS now FROM orders) AS o
LEFT JOIN customers FOR SYSTEM_TIME AS OF o.now AS c ON o.customer = c.name;
