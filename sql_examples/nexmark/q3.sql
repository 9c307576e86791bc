-- q3: who sells in these states: a join of two streams.
SET 'sqlext.expressions' = 'flink';

CREATE TABLE IF NOT EXISTS q3 (
  name STRING, city STRING, state STRING, id BIGINT
) WITH ('connector' = 'delta', 'path' = '${OUT}/q3');

INSERT INTO q3
SELECT P.name, P.city, P.state, A.id
FROM auction AS A INNER JOIN person AS P ON A.seller = P.id
WHERE A.category = 10 AND (P.state = 'OR' OR P.state = 'ID' OR P.state = 'CA');
