-- The catalog as tables: what there is, where time comes from, which query writes what.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE kept_orders (order_id INT, amount DOUBLE)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/kept_orders', 'format' = 'json');

CREATE VIEW pens AS SELECT customer, ts FROM orders WHERE item = 'pen';

SET 'pipeline.name' = 'keep large orders';
INSERT INTO kept_orders SELECT order_id, amount FROM orders WHERE amount >= 9;

SELECT table_name, table_type, connector FROM information_schema.tables ORDER BY table_name;

SELECT column_name, ordinal_position, data_type, column_kind
FROM information_schema.columns WHERE table_name = 'orders' ORDER BY ordinal_position;

SELECT table_name, column_name, time_attribute, watermark_expression FROM information_schema.time_attributes;

SELECT option_name, option_value FROM information_schema.options WHERE table_name = 'orders' ORDER BY option_name;

SELECT query_name, status, reads, writes FROM information_schema.queries;
