CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  hm STRING, big BOOLEAN, c BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT DATE_FORMAT(TUMBLE_START(ts, INTERVAL '1' MINUTE), 'HH:mm') AS hm, v > 5 AS big, COUNT(*) AS c FROM ev GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE), v > 5;
