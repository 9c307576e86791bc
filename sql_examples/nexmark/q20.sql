-- q20: bids with their auctions of one category: a join.
SET 'sqlext.expressions' = 'flink';

CREATE TABLE IF NOT EXISTS q20 (
  auction BIGINT, bidder BIGINT, price BIGINT, bid_time TIMESTAMP(3), itemName STRING, seller BIGINT, category BIGINT
) WITH ('connector' = 'delta', 'path' = '${OUT}/q20');

INSERT INTO q20
SELECT B.auction, B.bidder, B.price, B.`dateTime`, A.itemName, A.seller, A.category
FROM bid AS B INNER JOIN auction AS A ON B.auction = A.id
WHERE A.category = 10;
