-- Arrow decodes files and combines rows by key and window where it reads them: by itself where much lies there ('auto'),
-- always if asked to. This query ends, so it is one batch without state, and row groups that WHERE leaves out are not read.

SET 'sqlext.source' = 'arrow';

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE kept (customer STRING, item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '30' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/kept', 'format' = 'parquet');

INSERT INTO kept SELECT customer, item, ts FROM orders;

EXPLAIN
SELECT customer, window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE kept, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
WHERE ts >= TIMESTAMP '2024-03-01 09:05:00'
GROUP BY customer, window_start, window_end;

SELECT customer, window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE kept, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
WHERE ts >= TIMESTAMP '2024-03-01 09:05:00'
GROUP BY customer, window_start, window_end;

-- A table that is joined with itself is read once for both sides.
EXPLAIN
SELECT a.customer, a.item, b.item AS next_item
FROM kept AS a JOIN kept AS b
ON a.customer = b.customer AND b.ts > a.ts AND b.ts <= a.ts + INTERVAL '10' MINUTE;

SELECT a.customer, a.item, b.item AS next_item
FROM kept AS a JOIN kept AS b
ON a.customer = b.customer AND b.ts > a.ts AND b.ts <= a.ts + INTERVAL '10' MINUTE;
