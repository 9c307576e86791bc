CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), rt TIMESTAMP(3), c BIGINT, s INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT k, TUMBLE_START(ts, INTERVAL '1' MINUTE) AS ws, TUMBLE_END(ts, INTERVAL '1' MINUTE) AS we, TUMBLE_ROWTIME(ts, INTERVAL '1' MINUTE) AS rt, COUNT(*) AS c, SUM(v) AS s FROM ev GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE);
