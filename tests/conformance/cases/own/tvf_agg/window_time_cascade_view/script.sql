CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE VIEW w1 AS SELECT k, window_time AS rt, SUM(v) AS s, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '20' SECOND)) GROUP BY k, window_start, window_end, window_time;
CREATE VIEW w2 AS SELECT rt, s + 0 AS s, c FROM w1 WHERE c > 0;
CREATE TABLE snk (
  window_start TIMESTAMP(3), window_end TIMESTAMP(3), s INT, c BIGINT, mc BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT window_start, window_end, SUM(s) AS s, SUM(c) AS c, MAX(c) AS mc FROM TABLE(HOP(TABLE w2, DESCRIPTOR(rt), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE)) GROUP BY window_start, window_end;
