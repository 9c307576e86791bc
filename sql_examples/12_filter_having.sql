-- WHERE before the window, FILTER inside an aggregate, HAVING after it.
-- Flink 2.3 runs this file unchanged and gives the same rows.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

SELECT item, window_start,
       COUNT(*) AS orders,
       COUNT(*) FILTER (WHERE amount >= 5) AS large_orders,
       SUM(amount) FILTER (WHERE customer <> 'bob') AS total_without_bob
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTE))
WHERE customer <> 'cid'
GROUP BY item, window_start, window_end
HAVING COUNT(*) > 1 OR SUM(amount) > 5;
