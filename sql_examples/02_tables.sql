-- Tables: physical columns are in the data, computed columns are expressions, metadata columns come from the source.
-- Flink 2.3 runs this file unchanged and gives the same rows.

CREATE TABLE orders_in_full (
  order_id INT,
  customer STRING COMMENT 'first name',
  item     STRING,
  amount   DOUBLE,
  ts       TIMESTAMP(3),
  with_tax AS amount * 1.5,                                  -- computed: not in the file
  file     STRING NOT NULL METADATA FROM 'file.name' VIRTUAL, -- metadata of the connector
  seen_at  AS PROCTIME(),                                    -- the clock when a row is processed
  -- ts is event time; rows may come up to 30 seconds out of order.
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) COMMENT 'one row per order'
WITH (
  'connector' = 'filesystem',
  'path' = '${IN}/orders',
  'format' = 'json'
);

DESCRIBE orders_in_full;

SELECT order_id, item, ts, with_tax, file FROM orders_in_full WHERE customer = 'ann';
