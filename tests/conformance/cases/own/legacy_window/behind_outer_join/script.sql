CREATE TABLE t (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
WITH ('connector' = 'filesystem', 'path' = '${IN}/t', 'format' = 'json');
CREATE TABLE u (id INT, tag STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
WITH ('connector' = 'filesystem', 'path' = '${IN}/u', 'format' = 'json');
CREATE TABLE by_left (k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), n BIGINT, total INT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/by_left', 'format' = 'json');
INSERT INTO by_left SELECT tag, TUMBLE_START(ts, INTERVAL '1' MINUTE), TUMBLE_END(ts, INTERVAL '1' MINUTE), COUNT(*), SUM(v)
FROM (SELECT tag, v, t.ts FROM t LEFT JOIN u ON t.id = u.id) GROUP BY tag, TUMBLE(ts, INTERVAL '1' MINUTE);
