CREATE TABLE e (id INT, k STRING, v INT, ts TIMESTAMP(3)) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
ALTER TABLE e ADD WATERMARK FOR ts AS ts - INTERVAL '1' SECOND;
ALTER TABLE e MODIFY (v BIGINT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
CREATE TABLE snk (
  k STRING, window_start TIMESTAMP(3), c BIGINT, s BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT k, window_start, COUNT(*) AS c, SUM(v) AS s FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end;
