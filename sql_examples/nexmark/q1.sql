-- q1: prices in another currency.
SET 'sqlext.expressions' = 'flink';

CREATE TABLE IF NOT EXISTS q1 (
  auction BIGINT, bidder BIGINT, price DECIMAL(23, 3), `dateTime` TIMESTAMP(3), extra STRING
) WITH ('connector' = 'delta', 'path' = '${OUT}/q1');

INSERT INTO q1
SELECT auction, bidder, 0.908 * price AS price, `dateTime`, extra FROM bid;
