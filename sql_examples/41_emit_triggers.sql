-- EMIT says when a grouping gives its results, and which. A result is a pane; PANE_INDEX() and PANE_TIMING() tell them
-- apart. The triggers here look at rows and at event time, so that each run gives the same panes.
-- All triggers: sqlext/dialect/emit/EMIT.md.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE VIEW bills AS
SELECT customer, item, amount, ts, window_start, window_end
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '15' MINUTE));

-- What is known after three orders, and after three more; the bill when the watermark passes the end of the window.
SELECT customer, COUNT(*) AS orders, SUM(amount) AS total, PANE_INDEX() AS pane, PANE_TIMING() AS timing
FROM bills GROUP BY customer, window_start, window_end
EMIT AFTER WATERMARK EARLY EVERY 3 ROWS;

-- Three orders at a time, each of them in one pane; what is left comes at the end of the window.
SELECT customer, COUNT(*) AS orders, SUM(amount) AS total, PANE_INDEX() AS pane, PANE_TIMING() AS timing
FROM bills GROUP BY customer, window_start, window_end
EMIT EVERY 3 ROWS DISCARDING;

-- Whenever orders of more than 12 have come together.
SELECT customer, COUNT(*) AS orders, SUM(amount) AS total, PANE_INDEX() AS pane, PANE_TIMING() AS timing
FROM bills GROUP BY customer, window_start, window_end
EMIT WHEN (SUM(amount) > 12) DISCARDING;

-- A row decides: ink closes a bill. Without ON TIME PANE, an empty one would tell of the end of each window.
SELECT customer, COUNT(*) AS orders, SUM(amount) AS total, PANE_INDEX() AS pane, PANE_TIMING() AS timing
FROM bills GROUP BY customer, window_start, window_end
EMIT CASE WHEN item = 'ink' THEN FIRE AND PURGE ELSE CONTINUE END ON TIME PANE IF NOT EMPTY;

-- When an amount is more than 5 away from that of the order at the pane before (at first: from the first order's).
SELECT customer, COUNT(*) AS orders, SUM(amount) AS total, PANE_INDEX() AS pane, PANE_TIMING() AS timing
FROM bills GROUP BY customer, window_start, window_end
EMIT AFTER ABS DELTA OF (amount) > 5;

-- Two orders first, then each one; a pane holds the last three: a moving sum.
SELECT customer, COUNT(*) AS orders, SUM(amount) AS total, PANE_INDEX() AS pane, PANE_TIMING() AS timing
FROM bills GROUP BY customer, window_start, window_end
EMIT AFTER 2 ROWS THEN EVERY 1 ROWS KEEP LAST 3 ROWS;
