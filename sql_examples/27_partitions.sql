-- Partitioned tables: one folder for each value, written and read; a partition may also be named in the INSERT.
-- Flink 2.3 runs this file unchanged and gives the same rows.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE by_customer (order_id INT, amount DOUBLE, customer STRING)
PARTITIONED BY (customer)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/by_customer', 'format' = 'json');

INSERT INTO by_customer SELECT order_id, amount, customer FROM orders;

INSERT INTO by_customer PARTITION (customer = 'dan') SELECT order_id + 100, amount FROM orders WHERE item = 'ink';

-- The partition is a column like any other.
SELECT order_id, amount, customer FROM by_customer WHERE customer IN ('cid', 'dan');
