-- Current rows in a topic of Kafka: a record replaces the one with its key, a record without a value deletes it.
-- sqlext run sql_examples/58_upsert_kafka.sql --define KAFKA=localhost:9092 ...

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

-- Orders one by one, in a topic of their own: three of them make a micro-batch.
CREATE TABLE order_records (customer STRING, amount DOUBLE) WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = '${KAFKA}', 'format' = 'json',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'maxOffsetsPerTrigger' = '3');

INSERT INTO order_records SELECT customer, amount FROM orders;

-- The PRIMARY KEY is the key of a record. Only the last change of a key in a micro-batch is sent. A micro-batch is a
-- transaction: what is run again after a failure is sent once, and readers see all of it or nothing.
CREATE TABLE new_customers (customer STRING, orders BIGINT, spent DOUBLE, PRIMARY KEY (customer) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'new_customers', 'properties.bootstrap.servers' = '${KAFKA}',
  'key.format' = 'json', 'value.format' = 'json', 'value.fields-include' = 'EXCEPT_KEY',
  'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'examples',
  'properties.isolation.level' = 'read_committed', 'scan.bounded.mode' = 'latest-offset');

-- A customer with five orders is no new one any more: the sink sends a record without a value.
INSERT INTO new_customers
SELECT customer, COUNT(*), SUM(amount) FROM order_records GROUP BY customer HAVING COUNT(*) < 5;

-- Read, the topic is a changelog.
SELECT customer, orders, spent FROM new_customers;

SELECT COUNT(*) AS customers, SUM(orders) AS orders FROM new_customers;
