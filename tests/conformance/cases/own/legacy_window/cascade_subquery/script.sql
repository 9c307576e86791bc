CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  ws TIMESTAMP(3), c BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT HOP_START(rt, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE) AS ws, SUM(c) AS c FROM (SELECT TUMBLE_ROWTIME(ts, INTERVAL '20' SECOND) AS rt, COUNT(*) AS c FROM ev GROUP BY TUMBLE(ts, INTERVAL '20' SECOND)) GROUP BY HOP(rt, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE);
