CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE VIEW s AS SELECT k, window_time AS rt, COUNT(*) AS c FROM TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end, window_time;
CREATE TABLE snk (
  window_start TIMESTAMP(3), sessions BIGINT, longest BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT window_start, COUNT(*) AS sessions, MAX(c) AS longest FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(rt), INTERVAL '2' MINUTE)) GROUP BY window_start, window_end;
