-- An offset of each key: the last argument of TUMBLE, HOP and CUMULATE may be an expression of the grouping keys.

CREATE TABLE shop_sales (
  shop STRING, opens INT, amount DECIMAL(10, 2), ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH ('connector' = 'filesystem', 'path' = '${IN}/shop_sales', 'format' = 'csv');

-- Days begin when the shop opens: at 4 in the bakery, at 18 in the bar.
SELECT shop, window_start, window_end, COUNT(*) AS sales, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE shop_sales, DESCRIPTOR(ts), INTERVAL '1' DAY, opens * INTERVAL '1' HOUR))
GROUP BY shop, opens, window_start, window_end;

-- The sum since the shop opened, every eight hours.
SELECT shop, window_start, window_end, SUM(amount) AS so_far
FROM TABLE(CUMULATE(TABLE shop_sales, DESCRIPTOR(ts), INTERVAL '8' HOUR, INTERVAL '1' DAY, opens * INTERVAL '1' HOUR))
WHERE shop = 'bar'
GROUP BY shop, opens, window_start, window_end;

-- Without the column of a shop's hours: the offset is an expression of the key itself, here with results before the end.
SELECT shop, window_start, SUM(amount) AS total, PANE_TIMING() AS pane
FROM TABLE(TUMBLE(TABLE shop_sales, DESCRIPTOR(ts), INTERVAL '1' DAY,
  CASE shop WHEN 'bar' THEN INTERVAL '18' HOUR ELSE INTERVAL '4' HOUR END))
GROUP BY shop, window_start, window_end
EMIT AFTER WATERMARK EARLY EVERY 3 ROWS;

-- Months that begin on the tenth for the bar, on the first for the bakery.
SELECT shop, window_start, window_end, SUM(amount) AS billed
FROM TABLE(TUMBLE(TABLE shop_sales, DESCRIPTOR(ts), INTERVAL '1' MONTH,
  CASE shop WHEN 'bar' THEN INTERVAL '9' DAY ELSE INTERVAL '0' DAY END))
GROUP BY shop, window_start, window_end;

-- The best shop of days that begin together: equal bounds are one partition.
SELECT shop, window_start, total FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY total DESC) AS place FROM (
    SELECT shop, window_start, window_end, SUM(amount) AS total
    FROM TABLE(TUMBLE(TABLE shop_sales, DESCRIPTOR(ts), INTERVAL '1' DAY, opens * INTERVAL '1' HOUR))
    GROUP BY shop, opens, window_start, window_end))
WHERE place = 1;
