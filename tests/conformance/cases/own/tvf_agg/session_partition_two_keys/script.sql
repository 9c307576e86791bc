CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE VIEW e2 AS SELECT id, k, MOD(v, 2) AS m, ts FROM ev;
CREATE TABLE snk (
  k STRING, m INT, window_start TIMESTAMP(3), window_end TIMESTAMP(3), c BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT k, m, window_start, window_end, COUNT(*) AS c FROM TABLE(SESSION(TABLE e2 PARTITION BY (k, m), DESCRIPTOR(ts), INTERVAL '15' SECOND)) GROUP BY k, m, window_start, window_end;
