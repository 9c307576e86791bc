-- As-of joins: each row meets the one row of the other side that is nearest in time. Its time need not be the same.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE quotes (
  item STRING, price DOUBLE, since TIMESTAMP(3), WATERMARK FOR since AS since - INTERVAL '1' MINUTE
) WITH ('connector' = 'filesystem', 'path' = '${IN}/prices', 'format' = 'json');

-- The last price at or before each order. No primary key is needed, as FOR SYSTEM_TIME AS OF needs one.
SELECT o.order_id, o.item, q.price, q.since
FROM orders AS o LEFT ASOF JOIN quotes AS q MATCH_CONDITION (o.ts >= q.since) ON o.item = q.item;

-- It must not be older than a minute.
SELECT o.order_id, o.item, q.price
FROM orders AS o ASOF JOIN quotes AS q MATCH_CONDITION (o.ts >= q.since) TOLERANCE INTERVAL '1' MINUTE USING (item);

-- The next price after each order, within ten minutes: an order waits for it, or until there can be none.
SELECT o.order_id, o.item, q.price, q.since
FROM orders AS o LEFT ASOF JOIN quotes AS q MATCH_CONDITION (o.ts < q.since) TOLERANCE INTERVAL '10' MINUTE
ON o.item = q.item;

-- The rowtime of the left side stays one: windows over the result.
CREATE TEMPORARY VIEW IF NOT EXISTS priced AS
SELECT o.item, o.ts, o.amount / q.price AS pieces
FROM orders AS o ASOF JOIN quotes AS q MATCH_CONDITION (NEAREST(o.ts, q.since)) TOLERANCE INTERVAL '10' MINUTE
ON o.item = q.item;

SELECT item, window_start, SUM(pieces) AS pieces
FROM TABLE(TUMBLE(TABLE priced, DESCRIPTOR(ts), INTERVAL '5' MINUTE))
GROUP BY item, window_start, window_end;

-- Batch mode has the same rows.
SET 'execution.runtime-mode' = 'batch';

SELECT o.order_id, o.item, q.price, q.since
FROM orders AS o LEFT ASOF JOIN quotes AS q MATCH_CONDITION (o.ts >= q.since) ON o.item = q.item;
