CREATE TABLE t (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
WITH ('connector' = 'filesystem', 'path' = '${IN}/t', 'format' = 'json');
CREATE TABLE tumbled (k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), n BIGINT, total INT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/tumbled', 'format' = 'json');
CREATE TABLE hopped (k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), n BIGINT, total INT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/hopped', 'format' = 'json');
CREATE TABLE sessions (k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), n BIGINT, total INT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/sessions', 'format' = 'json');
CREATE VIEW once AS SELECT DISTINCT id, k, v, ts FROM t;
EXECUTE STATEMENT SET BEGIN
INSERT INTO tumbled SELECT k, TUMBLE_START(ts, INTERVAL '1' MINUTE), TUMBLE_END(ts, INTERVAL '1' MINUTE), COUNT(*), SUM(v) FROM once GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE);
INSERT INTO hopped SELECT k, HOP_START(ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE), HOP_END(ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE), COUNT(*), SUM(v) FROM once GROUP BY k, HOP(ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE);
INSERT INTO sessions SELECT k, SESSION_START(ts, INTERVAL '70' SECOND), SESSION_END(ts, INTERVAL '70' SECOND), COUNT(*), SUM(v) FROM once GROUP BY k, SESSION(ts, INTERVAL '70' SECOND);
END;
