-- An updating result in files: files only grow, so the rows are written once, as they are at the end of the input.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE item_totals (item STRING, orders BIGINT, total DOUBLE)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/item_totals', 'format' = 'json');

-- Without this the INSERT is refused: a filesystem sink cannot take back a row.
SET 'sqlext.sink.updates' = 'final-state';

INSERT INTO item_totals
SELECT item, COUNT(*), SUM(amount) FROM orders GROUP BY item;
