CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  we TIMESTAMP(3), k STRING, big BIGINT, a INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT TUMBLE_END(ts, INTERVAL '1' MINUTE) AS we, k, COUNT(*) FILTER (WHERE v > 5) AS big, AVG(v) AS a FROM ev WHERE k IS NOT NULL GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE), k HAVING COUNT(*) > 1;
