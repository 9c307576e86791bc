-- Windows without rows of each key of a table: also those of keys that never had a row.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE shelf (item STRING, place INT)
WITH ('connector' = 'filesystem', 'path' = '${IN}/shelf', 'format' = 'json');

-- Nobody bought a cap. Ink is not on the shelf, so only its windows with rows come out.
SELECT item, window_start, COUNT(*) AS n, SUM(amount) AS total, MAX(amount) AS latest
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTE))
GROUP BY item, window_start, window_end
EMIT FILL FOR EACH KEY OF shelf WITH (latest = LAST);

-- Batch mode has the same rows. Absence is a plain query.
SET 'execution.runtime-mode' = 'batch';

SELECT item, window_start
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTE))
GROUP BY item, window_start, window_end
HAVING COUNT(*) = 0
EMIT FILL FOR EACH KEY OF shelf;
