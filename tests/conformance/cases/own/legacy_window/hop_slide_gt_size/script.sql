CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  ws TIMESTAMP(3), we TIMESTAMP(3), c BIGINT, s INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT HOP_START(ts, INTERVAL '1' MINUTE, INTERVAL '20' SECOND) AS ws, HOP_END(ts, INTERVAL '1' MINUTE, INTERVAL '20' SECOND) AS we, COUNT(*) AS c, SUM(v) AS s FROM ev GROUP BY HOP(ts, INTERVAL '1' MINUTE, INTERVAL '20' SECOND);
