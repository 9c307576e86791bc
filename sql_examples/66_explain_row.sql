-- EXPLAIN ROW: which input rows a row of a result was made of, and in which file and line they are.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE explained_sales (
  item STRING, window_start TIMESTAMP(3), n BIGINT, total DOUBLE
) WITH ('connector' = 'delta', 'path' = '${OUT}/explained_sales');

INSERT INTO explained_sales
SELECT UPPER(item), window_start, COUNT(*), SUM(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTE))
GROUP BY UPPER(item), window_start, window_end;

-- The row itself comes first, then what it was made of.
EXPLAIN ROW FROM explained_sales WHERE item = 'PEN' AND n > 2;
