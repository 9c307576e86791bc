-- UNION ALL of two streams: time goes on as slow as the slower of the two, and windows see both.
-- Flink 2.3 runs this file unchanged and gives the same rows.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

-- TO_TIMESTAMP as in Flink, a TIMESTAMP(3): both branches have event time of the same type.
SET 'sqlext.expressions' = 'flink';

CREATE TABLE clicks_utc (
  user_id STRING, page STRING, `at` BIGINT,
  ts AS TO_TIMESTAMP(FROM_UNIXTIME(`at` / 1000)),
  WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
) WITH ('connector' = 'filesystem', 'path' = '${IN}/clicks', 'format' = 'json');

CREATE VIEW events AS
SELECT 'order' AS kind, customer AS who, ts FROM orders
UNION ALL
SELECT 'click', user_id, ts FROM clicks_utc;

SELECT window_start, kind, COUNT(*) AS events
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, kind;
