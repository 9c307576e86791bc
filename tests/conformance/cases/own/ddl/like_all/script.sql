CREATE TABLE b (id INT, k STRING, v INT, ts TIMESTAMP(3), twice AS v * 2, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) COMMENT 'base' WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE e LIKE b;
CREATE TABLE snk (
  k STRING, window_start TIMESTAMP(3), t INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT k, window_start, SUM(twice) AS t FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end;
