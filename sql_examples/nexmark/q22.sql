-- q22: bids with the parts of their address.
SET 'sqlext.expressions' = 'flink';

CREATE TABLE IF NOT EXISTS q22 (
  auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, dir1 STRING, dir2 STRING, dir3 STRING
) WITH ('connector' = 'delta', 'path' = '${OUT}/q22');

INSERT INTO q22
SELECT auction, bidder, price, channel,
  SPLIT_INDEX(url, '/', 3), SPLIT_INDEX(url, '/', 4), SPLIT_INDEX(url, '/', 5)
FROM bid;
