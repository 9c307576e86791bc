-- UNNEST and LATERAL: rows made of each row. Spark does it row by row, without state: rowtimes stay rowtimes, and a
-- row that is taken back takes back what was made of it.

CREATE TABLE baskets (
  basket INT, customer STRING, coupons ARRAY<STRING>, items ARRAY<ROW<item STRING, pieces INT>>,
  notes MAP<STRING, STRING>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/baskets', 'format' = 'json');

CREATE TABLE item_prices (item STRING, kind STRING, price DOUBLE)
WITH ('connector' = 'filesystem', 'path' = '${IN}/items', 'format' = 'csv', 'csv.field-delimiter' = ';',
      'scan.mode' = 'snapshot');

-- A row for each element; LEFT JOIN keeps the baskets that have none. Elements are numbered from 1.
SELECT basket, coupon, nr FROM baskets LEFT JOIN UNNEST(coupons) WITH ORDINALITY AS c (coupon, nr) ON TRUE;

-- The fields of an array of rows are columns, and so are the keys and values of a map.
SELECT basket, item, pieces, k, v
FROM baskets CROSS JOIN UNNEST(items) AS i (item, pieces), UNNEST(notes) AS n (k, v) WHERE k <> 'floor';

-- A window over what was unnested.
SELECT item, window_end, SUM(pieces) AS pieces
FROM TABLE(TUMBLE(TABLE baskets, DESCRIPTOR(ts), INTERVAL '5' MINUTE)) CROSS JOIN UNNEST(items) AS i (item, pieces)
GROUP BY item, window_start, window_end;

-- A LATERAL query sees the columns to its left: here with a static table, and as names for expressions.
SELECT basket, customer, l.item, l.total, big
FROM baskets AS b
CROSS JOIN LATERAL (
  SELECT i.item, pieces * price AS total FROM UNNEST(b.items) AS i JOIN item_prices AS p ON p.item = i.item WHERE pieces > 1
) AS l
CROSS JOIN LATERAL (SELECT l.total >= 10 AS big);

-- Over a result that changes: how many customers have bought each item.
SELECT item, COUNT(*) AS customers
FROM (SELECT customer, COLLECT(DISTINCT item) AS bought FROM baskets, UNNEST(items) AS i GROUP BY customer),
  UNNEST(bought) AS b (item)
GROUP BY item;

-- LATERAL with ORDER BY and LIMIT: the newest basket of each customer. With aggregates: how many there are.
SELECT c.customer, l.basket, n.baskets
FROM (SELECT DISTINCT customer FROM baskets) AS c,
  LATERAL (SELECT basket FROM baskets WHERE customer = c.customer ORDER BY ts DESC LIMIT 1) AS l,
  LATERAL (SELECT COUNT(*) AS baskets FROM baskets WHERE customer = c.customer) AS n;
