-- Sub-queries over a stream as values: they are joined to the rows around them, and rows that are out are taken back.
-- An outer join may ask what comparisons, logic, arithmetic, CASE and some functions say of both sides.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE payments (
  order_id INT, method STRING, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '6' MINUTE
) WITH ('connector' = 'filesystem', 'path' = '${IN}/payments', 'format' = 'json');

-- State that nothing else bounds is forgotten when a day has gone by without a row: while this runs, nothing.
SET 'table.exec.state.ttl' = '1 d';

-- One value for all rows.
SELECT order_id, amount FROM orders WHERE amount > 2 * (SELECT AVG(amount) FROM orders);

-- One value for each row's key; the count of nothing is 0.
SELECT order_id, (SELECT COUNT(*) FROM payments AS p WHERE p.order_id = o.order_id) AS payments
FROM orders AS o WHERE customer = 'ann';

-- EXISTS and IN under OR.
SELECT order_id, customer FROM orders AS o
WHERE amount > 10 OR EXISTS (SELECT 1 FROM payments AS p WHERE p.order_id = o.order_id AND p.method = 'cash');

-- Customers with more orders than there are payments in cash.
SELECT customer, COUNT(*) AS orders FROM orders GROUP BY customer
HAVING COUNT(*) > (SELECT COUNT(*) FROM payments WHERE method = 'cash');

-- Orders of ann that cost at least as much as any order of bob.
SELECT order_id, amount FROM orders
WHERE customer = 'ann' AND amount >= ALL (SELECT amount FROM orders WHERE customer = 'bob');

-- An order and those payments that are its own, or were made in cash for the order two before or two after it.
SELECT o.order_id, p.order_id AS paid, p.method
FROM orders AS o LEFT JOIN payments AS p
ON p.order_id = o.order_id OR (p.method = 'cash' AND ABS(p.order_id - o.order_id) = 2)
WHERE o.customer = 'cid';
