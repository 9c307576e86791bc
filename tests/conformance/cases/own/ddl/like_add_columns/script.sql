CREATE TABLE b (id INT, k STRING) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE e (v INT, vv AS v + 1, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) LIKE b;
CREATE TABLE snk (
  k STRING, window_start TIMESTAMP(3), s INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT k, window_start, SUM(vv) AS s FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end;
