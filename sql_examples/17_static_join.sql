-- A join of a stream with a table that does not change: 'scan.mode' = 'snapshot' reads it once, without an end to wait for.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE items (item STRING, category STRING, unit_cost DOUBLE)
WITH (
  'connector' = 'filesystem', 'path' = '${IN}/items', 'format' = 'csv', 'csv.field-delimiter' = ';',
  'scan.mode' = 'snapshot'
);

-- The event time of the stream is kept, so a window can follow the join.
CREATE VIEW orders_with_category AS
SELECT o.order_id, o.amount, o.ts, i.category
FROM orders AS o
LEFT JOIN items AS i ON o.item = i.item;

SELECT category, window_start, COUNT(*) AS orders, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE orders_with_category, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY category, window_start, window_end;
