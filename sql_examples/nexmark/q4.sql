-- q4: the average winning price of each category: an aggregate of an aggregate of a join.
SET 'sqlext.expressions' = 'flink';

CREATE TABLE IF NOT EXISTS q4 (
  category BIGINT, avg_price BIGINT, PRIMARY KEY (category) NOT ENFORCED
) WITH ('connector' = 'delta', 'path' = '${OUT}/q4');

INSERT INTO q4
SELECT Q.category, AVG(Q.final)
FROM (
  SELECT MAX(B.price) AS final, A.category
  FROM auction AS A, bid AS B
  WHERE A.id = B.auction AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires
  GROUP BY A.id, A.category
) AS Q
GROUP BY Q.category;
