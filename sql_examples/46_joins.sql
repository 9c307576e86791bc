-- Joins of two streams: without bounds of time, within an interval of time, within windows; IN and EXISTS over a stream.
-- EXPLAIN says what each one keeps, and for how long.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE payments (
  order_id INT, method STRING, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '6' MINUTE
) WITH ('connector' = 'filesystem', 'path' = '${IN}/payments', 'format' = 'json');

-- A regular join: a row matches whenever its partner comes, so all rows are kept (or as long as the hint says).
SELECT /*+ STATE_TTL('o' = '1 d', 'p' = '6 h') */ o.order_id, o.customer, p.method
FROM orders AS o JOIN payments AS p ON o.order_id = p.order_id;

-- An interval join: paid within five minutes, or not. A row is kept until it can match nothing more.
CREATE TEMPORARY VIEW IF NOT EXISTS paid AS
SELECT o.order_id, o.customer, o.ts, p.method
FROM orders AS o LEFT JOIN payments AS p
ON o.order_id = p.order_id AND p.ts BETWEEN o.ts AND o.ts + INTERVAL '5' MINUTE;

SELECT order_id, method FROM paid;

-- The rowtimes stay rowtimes: windows over the result.
SELECT window_start, COUNT(*) AS orders, COUNT(method) AS paid
FROM TABLE(TUMBLE(TABLE paid, DESCRIPTOR(ts), INTERVAL '5' MINUTE))
GROUP BY window_start, window_end;

-- A window join: what was ordered and what was paid in the same five minutes.
SELECT COALESCE(o.window_start, p.window_start) AS window_start, o.amount, p.payments
FROM (
  SELECT window_start, window_end, SUM(amount) AS amount
  FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end
) AS o
FULL JOIN (
  SELECT window_start, window_end, COUNT(*) AS payments
  FROM TABLE(TUMBLE(TABLE payments, DESCRIPTOR(ts), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end
) AS p
ON o.window_start = p.window_start AND o.window_end = p.window_end;

-- Orders that somebody has paid by card; an order comes out with its first payment.
SELECT order_id, item FROM orders WHERE order_id IN (SELECT order_id FROM payments WHERE method = 'card');

-- Orders that nobody pays within five minutes.
SELECT order_id, item FROM orders AS o
WHERE NOT EXISTS (
  SELECT * FROM payments AS p WHERE p.order_id = o.order_id AND p.ts BETWEEN o.ts AND o.ts + INTERVAL '5' MINUTE
);
