-- From topic to topic in milliseconds: Spark's real-time mode, and what EXPLAIN says of it.

CREATE TABLE card_payments (card STRING, amount DECIMAL(10, 2), country STRING, ts TIMESTAMP(3)) WITH (
  'connector' = 'kafka', 'topic' = 'card_payments', 'properties.bootstrap.servers' = 'broker:9092',
  'format' = 'json', 'scan.startup.mode' = 'earliest-offset');

CREATE TABLE suspicious_cards (card STRING, amount DECIMAL(10, 2)) WITH (
  'connector' = 'kafka', 'topic' = 'suspicious_cards', 'properties.bootstrap.servers' = 'broker:9092', 'format' = 'json');

CREATE TABLE spent_by_card (card STRING, total DECIMAL(38, 2), PRIMARY KEY (card) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'spent_by_card', 'properties.bootstrap.servers' = 'broker:9092',
  'key.format' = 'json', 'value.format' = 'json');

-- Rows go through as they come. The query notes its place each ten seconds.
SET 'sqlext.trigger.real-time' = '10 s';

-- This one can run so.
EXPLAIN INSERT INTO suspicious_cards SELECT card, amount FROM card_payments WHERE amount > 1000 AND country <> 'CH';

-- This one keeps state: as an INSERT it is refused before it runs, with the same reason.
EXPLAIN INSERT INTO spent_by_card SELECT card, SUM(amount) FROM card_payments GROUP BY card;
