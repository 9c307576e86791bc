-- EXPLAIN ROW of a query with EMIT: which trigger let each pane of a window come out, and how many rows it held.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE early_sales (
  item STRING, window_start TIMESTAMP(3), pane INT, n BIGINT, total DOUBLE
) WITH ('connector' = 'delta', 'path' = '${OUT}/early_sales');

-- Each second order gives an early result. The end of the window gives the last one.
INSERT INTO early_sales
SELECT item, window_start, PANE_INDEX(), COUNT(*), SUM(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTE))
GROUP BY item, window_start, window_end
EMIT AFTER WATERMARK EARLY EVERY 2 ROWS;

-- Behind the row stand the panes of its window, then the orders that they held.
EXPLAIN ROW FROM early_sales
WHERE item = 'paper' AND pane = 1 AND window_start = TIMESTAMP '2024-03-01 09:00:00';
