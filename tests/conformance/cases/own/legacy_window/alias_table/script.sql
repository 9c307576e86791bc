CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  k STRING, ws TIMESTAMP(3), m INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT e.k, TUMBLE_START(e.ts, INTERVAL '1' MINUTE) AS ws, MAX(e.v) AS m FROM ev AS e GROUP BY e.k, TUMBLE(e.ts, INTERVAL '1' MINUTE);
