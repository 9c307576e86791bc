CREATE TABLE orders (
  item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE per_minute (item STRING, minute TIMESTAMP(3), total DOUBLE)
WITH ('connector' = 'delta', 'path' = '${OUT}/per_minute');

INSERT INTO per_minute
SELECT item, window_start, SUM(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY item, window_start, window_end;

SELECT item, minute, total FROM per_minute;
