-- q6: the average price of the last ten auctions that each seller has sold in: a Top-N of winning bids.
SET 'sqlext.expressions' = 'flink';

CREATE TABLE IF NOT EXISTS q6 (
  seller BIGINT, avg_price BIGINT, PRIMARY KEY (seller) NOT ENFORCED
) WITH ('connector' = 'delta', 'path' = '${OUT}/q6');

INSERT INTO q6
SELECT seller, AVG(price)
FROM (
  SELECT seller, price, ROW_NUMBER() OVER (PARTITION BY seller ORDER BY `dateTime` DESC, id DESC) AS place
  FROM (
    SELECT A.id, A.seller, B.price, B.`dateTime`,
      ROW_NUMBER() OVER (PARTITION BY A.id ORDER BY B.price DESC, B.`dateTime` ASC) AS rownum
    FROM auction AS A, bid AS B
    WHERE A.id = B.auction AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires
  )
  WHERE rownum <= 1
)
WHERE place <= 10
GROUP BY seller;
