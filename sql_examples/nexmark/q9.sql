-- q9: the winning bid of each auction: a Top-1 over a join.
SET 'sqlext.expressions' = 'flink';

CREATE TABLE IF NOT EXISTS q9 (
  id BIGINT, itemName STRING, seller BIGINT, category BIGINT, bidder BIGINT, price BIGINT, bid_time TIMESTAMP(3),
  PRIMARY KEY (id) NOT ENFORCED
) WITH ('connector' = 'delta', 'path' = '${OUT}/q9');

INSERT INTO q9
SELECT id, itemName, seller, category, bidder, price, bid_time
FROM (
  SELECT A.id, A.itemName, A.seller, A.category, B.bidder, B.price, B.`dateTime` AS bid_time,
    ROW_NUMBER() OVER (PARTITION BY A.id ORDER BY B.price DESC, B.`dateTime` ASC) AS rownum
  FROM auction AS A, bid AS B
  WHERE A.id = B.auction AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires
)
WHERE rownum <= 1;
