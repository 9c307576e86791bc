-- Documents in indexes of OpenSearch: by key, and appended to an index for each day.
-- sqlext run sql_examples/63_search_index.sql --define SEARCH=localhost:9200 ...

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

-- The PRIMARY KEY is the id of a document.
CREATE TABLE customer_index (customer STRING, orders BIGINT, spent DOUBLE, PRIMARY KEY (customer) NOT ENFORCED)
WITH ('connector' = 'opensearch', 'hosts' = 'http://${SEARCH}', 'index' = 'customers');

INSERT INTO customer_index SELECT customer, COUNT(*), SUM(amount) FROM orders GROUP BY customer;

-- Without one the server makes ids. The name of the index has the day of the row.
CREATE TABLE order_log (order_id INT, amount DOUBLE, ts TIMESTAMP(3))
WITH ('connector' = 'elasticsearch-7', 'hosts' = 'http://${SEARCH}', 'index' = 'orders-{ts|yyyy.MM.dd}');

INSERT INTO order_log SELECT order_id, amount, ts FROM orders;
