-- Temporal joins: each row meets the version that was in force at its time, whenever both come.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

-- A versioned table: each row is the price of its item from `since` on.
CREATE TABLE prices (
  item STRING, price DOUBLE, since TIMESTAMP(3),
  WATERMARK FOR since AS since - INTERVAL '1' MINUTE,
  PRIMARY KEY (item) NOT ENFORCED
) WITH ('connector' = 'filesystem', 'path' = '${IN}/prices', 'format' = 'json');

SELECT o.order_id, o.item, p.price, p.since
FROM orders AS o LEFT JOIN prices FOR SYSTEM_TIME AS OF o.ts AS p ON o.item = p.item;

-- A versioned view says the same of a table without a primary key: the last row of each item.
CREATE TABLE price_log (
  item STRING, price DOUBLE, since TIMESTAMP(3), WATERMARK FOR since AS since - INTERVAL '1' MINUTE
) WITH ('connector' = 'filesystem', 'path' = '${IN}/prices', 'format' = 'json');

CREATE TEMPORARY VIEW IF NOT EXISTS last_prices AS
SELECT item, price, since
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY since DESC) AS n FROM price_log)
WHERE n = 1;

-- The left rowtime stays one: how many were sold in each five minutes at the price in force.
CREATE TEMPORARY VIEW IF NOT EXISTS sold AS
SELECT o.item, o.ts, o.amount / p.price AS pieces
FROM orders AS o JOIN last_prices FOR SYSTEM_TIME AS OF o.ts AS p ON o.item = p.item AND o.amount >= p.price;

SELECT item, window_start, SUM(pieces) AS pieces
FROM TABLE(TUMBLE(TABLE sold, DESCRIPTOR(ts), INTERVAL '5' MINUTE))
GROUP BY item, window_start, window_end;

-- By processing time a table is looked up as it is now: delta, or one that is read once.
CREATE TABLE kinds (item STRING, kind STRING, cost DOUBLE)
WITH ('connector' = 'filesystem', 'path' = '${IN}/items', 'format' = 'csv', 'csv.field-delimiter' = ';',
  'scan.mode' = 'snapshot');

SELECT o.order_id, k.kind
FROM (SELECT *, PROCTIME() AS now FROM orders) AS o
JOIN kinds FOR SYSTEM_TIME AS OF o.now AS k ON o.item = k.item;
