SET 'table.local-time-zone' = 'America/New_York';
CREATE TABLE t (id INT, k STRING, v INT, e BIGINT, ts AS TO_TIMESTAMP_LTZ(e, 3), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
WITH ('connector' = 'filesystem', 'path' = '${IN}/t', 'format' = 'json');
CREATE TABLE u (id INT, tag STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
WITH ('connector' = 'filesystem', 'path' = '${IN}/u', 'format' = 'json');
CREATE TABLE days (k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), n BIGINT, total INT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/days', 'format' = 'json');
CREATE VIEW joined AS SELECT t.k, t.v, t.ts FROM t JOIN u ON t.id = u.id;
INSERT INTO days SELECT k, TUMBLE_START(ts, INTERVAL '1' DAY), TUMBLE_END(ts, INTERVAL '1' DAY), COUNT(*), SUM(v)
FROM joined GROUP BY k, TUMBLE(ts, INTERVAL '1' DAY);
