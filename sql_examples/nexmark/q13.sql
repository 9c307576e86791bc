-- q13: bids with what a table on the side says: a lookup join.
SET 'sqlext.expressions' = 'flink';

CREATE TABLE IF NOT EXISTS q13 (
  auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), `value` STRING
) WITH ('connector' = 'delta', 'path' = '${OUT}/q13');

INSERT INTO q13
SELECT B.auction, B.bidder, B.price, B.`dateTime`, S.`value`
FROM (SELECT *, PROCTIME() AS p_time FROM bid) AS B
JOIN side_input FOR SYSTEM_TIME AS OF B.p_time AS S ON MOD(B.auction, 100) = S.key;
