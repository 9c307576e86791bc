-- GROUPING SETS, ROLLUP and CUBE in a window: several totals of the same rows in one query.
-- Flink 2.3 runs this file unchanged and gives the same rows.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

SELECT window_start, customer, item, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, GROUPING SETS ((customer), (item), ());

-- GROUPING tells a total's NULL from a NULL in the data.
SELECT window_start, customer, item, GROUPING(item) AS all_items, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, ROLLUP (customer, item);

SELECT window_start, customer, item, COUNT(*) AS orders
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
WHERE item <> 'paper'
GROUP BY window_start, window_end, CUBE (customer, item);
