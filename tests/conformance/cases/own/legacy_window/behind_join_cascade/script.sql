CREATE TABLE t (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
WITH ('connector' = 'filesystem', 'path' = '${IN}/t', 'format' = 'json');
CREATE TABLE u (id INT, tag STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
WITH ('connector' = 'filesystem', 'path' = '${IN}/u', 'format' = 'json');
CREATE TABLE wide (ws TIMESTAMP(3), n BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/wide', 'format' = 'json');
CREATE VIEW narrow AS SELECT TUMBLE_ROWTIME(t.ts, INTERVAL '30' SECOND) AS rt, COUNT(*) AS n
FROM t JOIN u ON t.id = u.id GROUP BY TUMBLE(t.ts, INTERVAL '30' SECOND);
INSERT INTO wide SELECT TUMBLE_START(rt, INTERVAL '2' MINUTE), SUM(n) FROM narrow GROUP BY TUMBLE(rt, INTERVAL '2' MINUTE);
