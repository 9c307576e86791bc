CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  b VARCHAR(3), c BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT CASE WHEN v > 5 THEN 'hi' WHEN v >= 0 THEN 'lo' ELSE 'neg' END AS b, COUNT(*) AS c FROM ev WHERE d IS NOT NULL GROUP BY CASE WHEN v > 5 THEN 'hi' WHEN v >= 0 THEN 'lo' ELSE 'neg' END;
