-- Tables of changes: what Debezium, Canal, Maxwell or GoldenGate send of a database is read as the rows that it adds
-- and takes back, and an updating result is written in the same way.

CREATE TABLE stock (item STRING, shelf STRING, pieces INT, PRIMARY KEY (item) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = '${IN}/stock', 'format' = 'debezium-json');

CREATE TABLE seen (item STRING, shelf STRING, pieces INT) WITH ('connector' = 'print');

INSERT INTO seen SELECT * FROM stock;

-- What is there now, by key.
CREATE TABLE stock_now (item STRING, shelf STRING, pieces INT, PRIMARY KEY (item) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/stock_now');

INSERT INTO stock_now SELECT * FROM stock;

-- A GROUP BY of changes is itself a table of changes.
CREATE TABLE shelves (shelf STRING, items BIGINT, pieces INT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/shelves', 'format' = 'maxwell-json');

INSERT INTO shelves SELECT shelf, COUNT(*), SUM(pieces) FROM stock GROUP BY shelf;

CREATE TABLE messages (data ROW<shelf STRING, items BIGINT, pieces INT>, `type` STRING)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/shelves', 'format' = 'json');

SELECT `type`, data.shelf, data.items, data.pieces FROM messages;

-- TO_CHANGELOG makes each change a row that is only added; FROM_CHANGELOG is the way back.
CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE history (op STRING, item STRING, n BIGINT)
WITH ('connector' = 'delta', 'path' = '${OUT}/history');

INSERT INTO history
SELECT * FROM TO_CHANGELOG(
  input => (SELECT item, COUNT(*) AS n FROM orders GROUP BY item),
  op_mapping => MAP['INSERT, UPDATE_AFTER', 'add', 'UPDATE_BEFORE, DELETE', 'remove']
);

-- A window counts the rows that are there when the watermark passes its end: here the last order of each customer.
CREATE VIEW last_orders AS SELECT customer, amount, ts
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY ts DESC) AS nr FROM orders) WHERE nr = 1;

SELECT window_end, COUNT(*) AS customers, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE last_orders, DESCRIPTOR(ts), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end;

-- A code stands for one change: 'add' and 'remove' are enough to know what is left.
SELECT * FROM FROM_CHANGELOG(input => TABLE history, op_mapping => MAP['add', 'INSERT', 'remove', 'DELETE']);
