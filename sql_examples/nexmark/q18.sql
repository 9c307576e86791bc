-- q18: the last bid of each bidder in each auction: deduplication.
SET 'sqlext.expressions' = 'flink';

CREATE TABLE IF NOT EXISTS q18 (
  auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, `dateTime` TIMESTAMP(3),
  PRIMARY KEY (auction, bidder) NOT ENFORCED
) WITH ('connector' = 'delta', 'path' = '${OUT}/q18');

INSERT INTO q18
SELECT auction, bidder, price, channel, `dateTime`
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY `dateTime` DESC) AS rank_number FROM bid
)
WHERE rank_number <= 1;
