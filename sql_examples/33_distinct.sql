-- SELECT DISTINCT of a stream: each row once, when it first comes. Spark has no such operator for a whole stream;
-- this is a stateful function of ours (EXPLAIN says so). Flink 2.3 gives the same rows.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

SELECT DISTINCT customer, item FROM orders WHERE amount < 8;
