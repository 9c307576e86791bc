-- Windows without rows: FILL gives them too, for a time after a key's last row.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TEMPORARY VIEW IF NOT EXISTS minutes AS
SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE));

-- COUNT is 0 and other aggregates are NULL, as over no rows. Columns that are named have what is said of them.
SELECT item, window_start, COUNT(*) AS n, SUM(amount) AS total, SUM(amount) AS or_zero, MAX(amount) AS latest,
  ROUND(AVG(amount), 2) AS between_both, PANE_TIMING() AS timing
FROM minutes WHERE item = 'ink'
GROUP BY item, window_start, window_end
EMIT FILL FOR 4m WITH (or_zero = 0, latest = LAST, between_both = LINEAR);

-- Absence: who bought nothing in a minute, for two minutes after the last purchase?
SELECT customer, window_start, window_end
FROM minutes
GROUP BY customer, window_start, window_end
HAVING COUNT(*) = 0
EMIT FILL FOR 2m;

-- Filled windows are windows: the item of each minute that sold least, with those that sold nothing.
SELECT window_start, item, n FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n, item) AS place FROM (
    SELECT item, window_start, window_end, COUNT(*) AS n
    FROM minutes GROUP BY item, window_start, window_end
    EMIT FILL FOR 3m))
WHERE place = 1;

-- Of windows that overlap, and of windows that grow.
SELECT item, window_start, window_end, COUNT(*) AS n
FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '2' MINUTE, INTERVAL '4' MINUTE)) WHERE item = 'pen'
GROUP BY item, window_start, window_end
EMIT FILL FOR 4m;

SELECT item, window_start, window_end, COUNT(*) AS n
FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE)) WHERE item = 'pen'
GROUP BY item, window_start, window_end
EMIT FILL FOR 10m;


-- Batch mode has the same rows.
SET 'execution.runtime-mode' = 'batch';

SELECT item, window_start, COUNT(*) AS n, SUM(amount) AS total, SUM(amount) AS or_zero, MAX(amount) AS latest,
  ROUND(AVG(amount), 2) AS between_both
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) WHERE item = 'ink'
GROUP BY item, window_start, window_end
EMIT FILL FOR 4m WITH (or_zero = 0, latest = LAST, between_both = LINEAR);
