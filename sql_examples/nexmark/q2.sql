-- q2: bids for chosen auctions.
SET 'sqlext.expressions' = 'flink';

CREATE TABLE IF NOT EXISTS q2 (
  auction BIGINT, price BIGINT
) WITH ('connector' = 'delta', 'path' = '${OUT}/q2');

INSERT INTO q2
SELECT auction, price FROM bid WHERE MOD(auction, 123) = 0;
