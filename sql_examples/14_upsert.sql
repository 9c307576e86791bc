-- GROUP BY without a window: a result that keeps changing. A Delta table with a PRIMARY KEY takes it by MERGE.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE customer_totals (
  customer STRING, orders BIGINT, total DOUBLE,
  PRIMARY KEY (customer) NOT ENFORCED
) WITH ('connector' = 'delta', 'path' = '${OUT}/customer_totals');

-- Each micro-batch updates the rows of the customers in it; the table always holds one row per customer.
INSERT INTO customer_totals
SELECT customer, COUNT(*), SUM(amount) FROM orders GROUP BY customer;

-- A customer whose fifth order comes leaves this table: the row is deleted.
CREATE TABLE occasional_customers (
  customer STRING, orders BIGINT,
  PRIMARY KEY (customer) NOT ENFORCED
) WITH ('connector' = 'delta', 'path' = '${OUT}/occasional_customers');

INSERT INTO occasional_customers
SELECT customer, COUNT(*) FROM orders GROUP BY customer HAVING COUNT(*) < 5;
