-- q19: the ten highest bids of each auction: Top-N with its numbers.
SET 'sqlext.expressions' = 'flink';

CREATE TABLE IF NOT EXISTS q19 (
  auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), rank_number BIGINT,
  PRIMARY KEY (auction, rank_number) NOT ENFORCED
) WITH ('connector' = 'delta', 'path' = '${OUT}/q19');

INSERT INTO q19
SELECT auction, bidder, price, `dateTime`, rank_number
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC, `dateTime`, bidder) AS rank_number FROM bid
)
WHERE rank_number <= 10;
