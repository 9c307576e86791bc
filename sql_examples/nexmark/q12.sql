-- q12: how many bids a bidder makes in ten seconds of processing time; a bounded run ends before its last window.
SET 'sqlext.expressions' = 'flink';

CREATE TABLE IF NOT EXISTS q12 (
  bidder BIGINT, bid_count BIGINT, starttime TIMESTAMP(3), endtime TIMESTAMP(3)
) WITH ('connector' = 'delta', 'path' = '${OUT}/q12');

INSERT INTO q12
SELECT bidder, COUNT(*), window_start, window_end
FROM TABLE(TUMBLE((SELECT *, PROCTIME() AS p_time FROM bid), DESCRIPTOR(p_time), INTERVAL '10' SECOND))
GROUP BY bidder, window_start, window_end;
