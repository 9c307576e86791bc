SET 'table.local-time-zone' = 'GMT+05:30';
CREATE TABLE e (id INT, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector'='filesystem', 'path'='${IN}/ltz.json', 'format'='json');
CREATE TABLE snk (
  window_start TIMESTAMP(3), c BIGINT, m STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT window_start, COUNT(*) AS c, CAST(MAX(ts) AS STRING) AS m FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
