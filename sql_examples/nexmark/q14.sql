-- q14: bids with their time of day and a count of letters.
SET 'sqlext.expressions' = 'flink';

CREATE TABLE IF NOT EXISTS q14 (
  auction BIGINT, bidder BIGINT, price DECIMAL(24, 3), bid_time_type STRING, c_counts INT
) WITH ('connector' = 'delta', 'path' = '${OUT}/q14');

INSERT INTO q14
SELECT auction, bidder, 0.908 * price,
  CASE WHEN HOUR(`dateTime`) >= 8 AND HOUR(`dateTime`) <= 18 THEN 'dayTime'
    WHEN HOUR(`dateTime`) <= 6 OR HOUR(`dateTime`) >= 20 THEN 'nightTime' ELSE 'otherTime' END,
  CHAR_LENGTH(extra) - CHAR_LENGTH(REPLACE(extra, 'c', ''))
FROM bid
WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000;
