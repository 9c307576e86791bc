-- q7: the highest bid of every ten seconds.
SET 'sqlext.expressions' = 'flink';

CREATE TABLE IF NOT EXISTS q7 (
  auction BIGINT, price BIGINT, bidder BIGINT, `dateTime` TIMESTAMP(3), extra STRING
) WITH ('connector' = 'delta', 'path' = '${OUT}/q7');

INSERT INTO q7
SELECT B.auction, B.price, B.bidder, B.`dateTime`, B.extra
FROM bid AS B
JOIN (
  SELECT MAX(price) AS maxprice, window_start AS starttime, window_end AS endtime
  FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
  GROUP BY window_start, window_end
) AS B1
ON B.price = B1.maxprice
WHERE B.`dateTime` >= B1.starttime AND B.`dateTime` < B1.endtime;
