-- The same SQL as plain batch Spark: no watermark, no state, sorting allowed. For results in tables, and for trying out.

SET 'execution.runtime-mode' = 'batch';

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

SELECT item, window_start, COUNT(*) AS orders, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTE))
GROUP BY item, window_start, window_end
ORDER BY window_start, item;

SELECT customer, COUNT(DISTINCT item) AS items, SUM(amount) AS total
FROM orders GROUP BY customer ORDER BY total DESC LIMIT 2;

-- The order need not be that of a column that is shown.
SELECT order_id, item FROM orders ORDER BY amount DESC, order_id LIMIT 3;
