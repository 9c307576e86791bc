-- From topic to topic in milliseconds: Spark's real-time mode, and what EXPLAIN says of it.

CREATE TABLE payments (card STRING, amount DECIMAL(10, 2), country STRING, ts TIMESTAMP(3)) WITH (
  'connector' = 'kafka', 'topic' = 'payments', 'properties.bootstrap.servers' = 'broker:9092',
  'format' = 'json', 'scan.startup.mode' = 'earliest-offset');

CREATE TABLE suspicious (card STRING, amount DECIMAL(10, 2)) WITH (
  'connector' = 'kafka', 'topic' = 'suspicious', 'properties.bootstrap.servers' = 'broker:9092', 'format' = 'json');

CREATE TABLE spent (card STRING, total DECIMAL(38, 2), PRIMARY KEY (card) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'spent', 'properties.bootstrap.servers' = 'broker:9092',
  'key.format' = 'json', 'value.format' = 'json');

-- Rows go through as they come. The query notes its place each ten seconds.
SET 'sqlext.trigger.real-time' = '10 s';

-- This one can run so.
EXPLAIN INSERT INTO suspicious SELECT card, amount FROM payments WHERE amount > 1000 AND country <> 'CH';

-- This one keeps state: as an INSERT it is refused before it runs, with the same reason.
EXPLAIN INSERT INTO spent SELECT card, SUM(amount) FROM payments GROUP BY card;
