CREATE TABLE t (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
WITH ('connector' = 'filesystem', 'path' = '${IN}/t', 'format' = 'json');
CREATE TABLE counted (k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), n BIGINT, total INT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/counted', 'format' = 'json');
CREATE TABLE latest (k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), n BIGINT, total INT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/latest', 'format' = 'json');
EXECUTE STATEMENT SET BEGIN
INSERT INTO counted SELECT k, TUMBLE_START(ts, INTERVAL '1' MINUTE), TUMBLE_END(ts, INTERVAL '1' MINUTE), COUNT(*), MAX(v)
FROM (SELECT k, ts, SUM(v) AS v FROM t GROUP BY k, ts) GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE);
INSERT INTO latest SELECT k, TUMBLE_START(last_ts, INTERVAL '1' MINUTE), TUMBLE_END(last_ts, INTERVAL '1' MINUTE), COUNT(*), MAX(v)
FROM (SELECT k, MAX(ts) AS last_ts, SUM(v) AS v FROM t GROUP BY k) GROUP BY k, TUMBLE(last_ts, INTERVAL '1' MINUTE);
END;
