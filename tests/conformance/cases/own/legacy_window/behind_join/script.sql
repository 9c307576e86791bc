CREATE TABLE t (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
WITH ('connector' = 'filesystem', 'path' = '${IN}/t', 'format' = 'json');
CREATE TABLE u (id INT, tag STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
WITH ('connector' = 'filesystem', 'path' = '${IN}/u', 'format' = 'json');
CREATE TABLE by_left (k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), n BIGINT, total INT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/by_left', 'format' = 'json');
CREATE TABLE by_right (k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), n BIGINT, total INT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/by_right', 'format' = 'json');
EXECUTE STATEMENT SET BEGIN
INSERT INTO by_left SELECT t.k, TUMBLE_START(t.ts, INTERVAL '1' MINUTE), TUMBLE_END(t.ts, INTERVAL '1' MINUTE), COUNT(*), SUM(v)
FROM t JOIN u ON t.id = u.id GROUP BY t.k, TUMBLE(t.ts, INTERVAL '1' MINUTE);
INSERT INTO by_right SELECT u.tag, HOP_START(u.ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE), HOP_END(u.ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE), COUNT(*), MAX(v)
FROM t JOIN u ON t.id = u.id AND t.v > 5 GROUP BY u.tag, HOP(u.ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE);
END;
