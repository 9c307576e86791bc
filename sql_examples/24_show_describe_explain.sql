-- What is there and what would happen: SHOW, DESCRIBE and EXPLAIN. EXPLAIN runs nothing.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE VIEW pens AS SELECT customer, ts FROM orders WHERE item = 'pen';

SHOW TABLES;
SHOW VIEWS;
SHOW DATABASES;
SHOW COLUMNS FROM orders LIKE '%o%';
SHOW CREATE TABLE orders;
SHOW CREATE VIEW pens;

-- The view's ts is still event time.
DESCRIBE pens;

EXPLAIN
SELECT customer, window_start, COUNT(*) AS pens
FROM TABLE(TUMBLE(TABLE pens, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY customer, window_start, window_end;
