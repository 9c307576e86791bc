CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  window_start TIMESTAMP(3), window_end TIMESTAMP(3), k STRING, big BOOLEAN, c BIGINT, s INT, gk BIGINT, gid BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT window_start, window_end, k, v > 5 AS big, COUNT(*) AS c, SUM(v) AS s, GROUPING(k) AS gk, GROUPING_ID(k, v > 5) AS gid FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '2' MINUTE)) GROUP BY window_start, window_end, GROUPING SETS ((k, v > 5), (k), (v > 5), ());
