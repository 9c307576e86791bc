-- As-of joins that answer at once, and take back what a later row makes wrong: sqlext test sql_examples/74_as_of_updates.sql
-- Its .steps file says what comes when. docs/time.md tells the rules.

CREATE TABLE deals (
  trade INT, symbol STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/deals', 'format' = 'json', 'source.monitor-interval' = '1 s');

CREATE TABLE asks (
  symbol STRING, price DOUBLE, at TIMESTAMP(3), WATERMARK FOR at AS at - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/asks', 'format' = 'json', 'source.monitor-interval' = '1 s');

-- Each trade comes out when it comes. Step 2: its price was another one. Step 4: a quote behind the watermark, by less
-- than 20 seconds. Step 5: one that is too late.
SELECT t.trade, q.price, q.at
FROM deals AS t LEFT ASOF JOIN asks AS q MATCH_CONDITION (t.ts >= q.at) ON t.symbol = q.symbol
EMIT CHANGES ALLOW LATENESS 20s;

-- Each trade comes out when the watermark has passed it; late asks correct it.
SELECT t.trade, q.price, q.at
FROM deals AS t ASOF JOIN asks AS q MATCH_CONDITION (t.ts >= q.at) ON t.symbol = q.symbol
EMIT AFTER WATERMARK LATE EVERY ROW ALLOW LATENESS 20s;

-- The nearest quote on either side so far.
SELECT t.trade, q.price, q.at
FROM deals AS t LEFT ASOF JOIN asks AS q
  MATCH_CONDITION (NEAREST(t.ts, q.at)) TOLERANCE INTERVAL '10' SECOND ON t.symbol = q.symbol
EMIT CHANGES;

-- A table by key holds what stands in the end.
CREATE TABLE deal_prices (trade INT, price DOUBLE, PRIMARY KEY (trade) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/deal_prices');

INSERT INTO deal_prices
SELECT t.trade, q.price
FROM deals AS t LEFT ASOF JOIN asks AS q MATCH_CONDITION (t.ts >= q.at) ON t.symbol = q.symbol
EMIT CHANGES ALLOW LATENESS 20s;
