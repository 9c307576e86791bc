-- q11: how many bids a bidder makes in one go: sessions.
SET 'sqlext.expressions' = 'flink';

CREATE TABLE IF NOT EXISTS q11 (
  bidder BIGINT, bid_count BIGINT, starttime TIMESTAMP(3), endtime TIMESTAMP(3)
) WITH ('connector' = 'delta', 'path' = '${OUT}/q11');

INSERT INTO q11
SELECT bidder, COUNT(*), window_start, window_end
FROM TABLE(SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
GROUP BY bidder, window_start, window_end;
