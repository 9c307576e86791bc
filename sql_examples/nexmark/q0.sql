-- q0: the bids as they are.
SET 'sqlext.expressions' = 'flink';

CREATE TABLE IF NOT EXISTS q0 (
  auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), extra STRING
) WITH ('connector' = 'delta', 'path' = '${OUT}/q0');

INSERT INTO q0
SELECT auction, bidder, price, `dateTime`, extra FROM bid;
