SET 'table.local-time-zone' = 'Asia/Tokyo';
CREATE TABLE e (id INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector'='filesystem', 'path'='${IN}/j.json', 'format'='json');
CREATE TABLE snk (
  window_start TIMESTAMP(3), c BIGINT, m STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT window_start, COUNT(*) AS c, CAST(MIN(ts) AS STRING) AS m FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
