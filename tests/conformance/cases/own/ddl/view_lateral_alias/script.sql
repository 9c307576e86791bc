CREATE TABLE e (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TEMPORARY VIEW a AS SELECT k, v + 1 AS v, ts AS t1 FROM e;
CREATE VIEW b AS SELECT k, v * 2 AS v, t1 AS t2 FROM a WHERE v > 2;
CREATE TABLE snk (
  k STRING, window_start TIMESTAMP(3), s INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT k, window_start, SUM(v) AS s FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(t2), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end;
