-- Results before a window has ended, and corrections after it. Each one is a pane: a table with a PRIMARY KEY holds the
-- last pane of a key and window; with PANE_INDEX() in the select list every pane is a row of its own.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE revenue (
  item STRING, started TIMESTAMP(3), orders BIGINT, amount DOUBLE,
  PRIMARY KEY (item, started) NOT ENFORCED
) WITH ('connector' = 'delta', 'path' = '${OUT}/revenue');

-- A pane for every second order, one at the end of the window, one for each micro-batch with late orders.
INSERT INTO revenue
SELECT item, window_start, COUNT(*), SUM(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY item, window_start, window_end
EMIT AFTER WATERMARK EARLY EVERY 2 ROWS LATE EVERY ROW ALLOW LATENESS INTERVAL '1' HOUR;

CREATE TABLE revenue_panes (
  item STRING, started TIMESTAMP(3), pane INT, timing STRING, is_last BOOLEAN, orders BIGINT, amount DOUBLE
) WITH ('connector' = 'filesystem', 'path' = '${OUT}/revenue_panes', 'format' = 'json');

-- DISCARDING: each pane has the orders since the one before it, so that the panes add up.
INSERT INTO revenue_panes
SELECT item, window_start, PANE_INDEX(), PANE_TIMING(), PANE_IS_LAST(), COUNT(*), SUM(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY item, window_start, window_end
EMIT AFTER WATERMARK EARLY EVERY 2 ROWS DISCARDING;

-- Without a sink that holds keys, SELECT shows the panes one after the other.
SELECT item, COUNT(*) AS orders FROM orders GROUP BY item EMIT EVERY 2 ROWS;
