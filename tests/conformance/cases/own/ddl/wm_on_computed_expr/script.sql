CREATE TABLE e (k STRING, v INT, ts TIMESTAMP(3), rt AS ts + INTERVAL '1' HOUR, WATERMARK FOR rt AS rt - INTERVAL '5' SECOND) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE snk (
  k STRING, window_start TIMESTAMP(3), c BIGINT, s INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT k, window_start, COUNT(*) AS c, SUM(v) AS s FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(rt), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end;
