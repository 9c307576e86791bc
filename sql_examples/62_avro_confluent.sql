-- Records of Avro, whose schemas are in a registry: avro-confluent.
-- sqlext run sql_examples/62_avro_confluent.sql --define KAFKA=localhost:9092 --define REGISTRY=http://localhost:8081 ...

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

-- The schema follows from the columns. It is registered as the subject 'bought-value'.
CREATE TABLE bought (order_id INT NOT NULL, customer STRING, amount DOUBLE, ts TIMESTAMP(3)) WITH (
  'connector' = 'kafka', 'topic' = 'bought', 'properties.bootstrap.servers' = '${KAFKA}',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset',
  'format' = 'avro-confluent', 'avro-confluent.url' = '${REGISTRY}');

INSERT INTO bought SELECT order_id, customer, amount, ts FROM orders;

-- Another program's table of the same topic: an order, a type and a field of its own. Avro's rules resolve them.
CREATE TABLE bought_elsewhere (ts TIMESTAMP(3), order_id BIGINT, amount DOUBLE, channel STRING) WITH (
  'connector' = 'kafka', 'topic' = 'bought', 'properties.bootstrap.servers' = '${KAFKA}',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset',
  'format' = 'avro-confluent', 'avro-confluent.url' = '${REGISTRY}');

SELECT order_id, ts, amount, channel FROM bought_elsewhere;

-- Keys have schemas too: 'spent-key' beside 'spent-value'.
CREATE TABLE spent (customer STRING NOT NULL, total DOUBLE, PRIMARY KEY (customer) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'spent', 'properties.bootstrap.servers' = '${KAFKA}',
  'key.format' = 'avro-confluent', 'key.avro-confluent.url' = '${REGISTRY}',
  'value.format' = 'avro-confluent', 'value.avro-confluent.url' = '${REGISTRY}',
  'value.fields-include' = 'EXCEPT_KEY', 'scan.bounded.mode' = 'latest-offset');

INSERT INTO spent SELECT customer, SUM(amount) FROM bought GROUP BY customer;

SELECT customer, total FROM spent;
