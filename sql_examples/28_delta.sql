-- Delta tables as sink and as source. What a windowed query appends is committed exactly once.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE per_minute (
  item STRING, minute TIMESTAMP(3), orders BIGINT,
  WATERMARK FOR minute AS minute - INTERVAL '1' MINUTE  -- for those who read it
) WITH ('connector' = 'delta', 'path' = '${OUT}/per_minute');

INSERT INTO per_minute
SELECT item, window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY item, window_start, window_end;

-- The result is a stream for the next query.
SELECT item, window_start, SUM(orders) AS orders, COUNT(*) AS minutes_with_orders
FROM TABLE(TUMBLE(TABLE per_minute, DESCRIPTOR(minute), INTERVAL '10' MINUTE))
GROUP BY item, window_start, window_end;
