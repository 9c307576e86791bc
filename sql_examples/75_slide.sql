-- Windows that slide with each row: one ends at each time of a key, and has the rows of the last minutes.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

-- What each customer has bought in the five minutes up to each order. Order 3 of ann is not in the window of order 9: it was 5 minutes and 5 seconds before.
SELECT customer, window_start, window_time, COUNT(*) AS n, SUM(amount) AS total
FROM TABLE(SLIDE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTE))
GROUP BY customer, window_start, window_end, window_time;

-- An alarm: three orders or more within two minutes, whoever they are of.
SELECT window_time, COUNT(*) AS n, COUNT(DISTINCT customer) AS customers
FROM TABLE(SLIDE(TABLE orders, DESCRIPTOR(ts), INTERVAL '2' MINUTE))
GROUP BY window_start, window_end, window_time
HAVING COUNT(*) >= 3;

-- The same in batch mode.
SET 'execution.runtime-mode' = 'batch';

SELECT window_time, COUNT(*) AS n, COUNT(DISTINCT customer) AS customers
FROM TABLE(SLIDE(TABLE orders, DESCRIPTOR(ts), INTERVAL '2' MINUTE))
GROUP BY window_start, window_end, window_time
HAVING COUNT(*) >= 3;

RESET 'execution.runtime-mode';

-- Windows of windows: the most that a customer had bought within five minutes, of each ten minutes.
CREATE VIEW spent_lately AS
SELECT customer, window_time AS at, SUM(amount) AS total
FROM TABLE(SLIDE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTE))
GROUP BY customer, window_start, window_end, window_time;

SELECT customer, window_start, MAX(total) AS most
FROM TABLE(TUMBLE(TABLE spent_lately, DESCRIPTOR(at), INTERVAL '10' MINUTE))
GROUP BY customer, window_start, window_end;
