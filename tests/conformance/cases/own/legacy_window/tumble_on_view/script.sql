CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE VIEW r (kk, vv, rt) AS SELECT k, v, ts FROM ev WHERE v > 1;
CREATE TABLE snk (
  kk STRING, ws TIMESTAMP(3), s INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT kk, TUMBLE_START(rt, INTERVAL '1' MINUTE) AS ws, SUM(vv) AS s FROM r GROUP BY kk, TUMBLE(rt, INTERVAL '1' MINUTE);
