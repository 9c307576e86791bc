CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE VIEW w1 AS SELECT k, TUMBLE_ROWTIME(ts, INTERVAL '30' SECOND) AS rt, COUNT(*) AS c FROM ev GROUP BY k, TUMBLE(ts, INTERVAL '30' SECOND);
CREATE TABLE snk (
  ws TIMESTAMP(3), c BIGINT, n BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT TUMBLE_START(rt, INTERVAL '2' MINUTE) AS ws, SUM(c) AS c, COUNT(*) AS n FROM w1 GROUP BY TUMBLE(rt, INTERVAL '2' MINUTE);
