-- MATCH_RECOGNIZE: patterns in the rows of a partition, in the order of time. A match comes out once, when the watermark
-- has passed its last row; only rows that may still be part of a match are kept (EXPLAIN says for how long).

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

-- Two orders in a row that are larger than the one before. What one row knows (item <> 'glue') is Spark's to compute,
-- what looks at other rows is the operator's.
SELECT * FROM orders MATCH_RECOGNIZE (
  PARTITION BY customer
  ORDER BY ts
  MEASURES A.order_id AS first_id, LAST(UP.order_id) AS last_id, SUM(UP.amount) AS more, MATCH_ROWTIME() AS at
  ONE ROW PER MATCH
  AFTER MATCH SKIP TO NEXT ROW
  PATTERN (A UP{2}) WITHIN INTERVAL '10' MINUTE
  DEFINE UP AS UP.amount > COALESCE(LAST(UP.amount, 1), A.amount) AND UP.item <> 'glue'
);

-- A quantifier is greedy, and as in Flink it gives nothing back: a row that may be SMALL is never the BIG one.
SELECT * FROM orders MATCH_RECOGNIZE (
  ORDER BY ts
  MEASURES COUNT(SMALL.order_id) AS small_orders, AVG(SMALL.amount) AS mean, BIG.order_id AS big_id
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (SMALL+ BIG)
  DEFINE SMALL AS SMALL.amount < 6, BIG AS BIG.amount >= 8
);

-- MATCH_ROWTIME() is a time attribute: windows over matches.
CREATE TEMPORARY VIEW IF NOT EXISTS rises AS
SELECT customer, at FROM orders MATCH_RECOGNIZE (
  PARTITION BY customer
  ORDER BY ts
  MEASURES MATCH_ROWTIME() AS at
  AFTER MATCH SKIP TO NEXT ROW
  PATTERN (A B)
  DEFINE B AS B.amount > A.amount
);

SELECT window_end, COUNT(*) AS rises
FROM TABLE(TUMBLE(TABLE rises, DESCRIPTOR(at), INTERVAL '5' MINUTE))
GROUP BY window_start, window_end;

-- Flink has no alternatives, no groups, no PREV and no ALL ROWS PER MATCH. The standard has: here quantifiers give rows
-- back where that makes a match.
SET 'sqlext.match-recognize' = 'standard';

SELECT customer, number, what, change, order_id FROM orders MATCH_RECOGNIZE (
  PARTITION BY customer
  ORDER BY ts
  MEASURES MATCH_NUMBER() AS number, CLASSIFIER() AS what, amount - PREV(amount) AS change
  ALL ROWS PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A (UP | DOWN)+)
  DEFINE UP AS UP.amount > PREV(UP.amount) + 2, DOWN AS DOWN.amount < PREV(DOWN.amount) - 2
);
