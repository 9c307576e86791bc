SET 'table.local-time-zone' = 'Europe/Berlin';
CREATE TABLE ua (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH ('connector'='filesystem', 'path'='${IN}/ua.json', 'format'='json');
CREATE TABLE ub (id INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH ('connector'='filesystem', 'path'='${IN}/ub.json', 'format'='json');
CREATE VIEW u AS SELECT id, ts FROM ua UNION ALL SELECT id, ts FROM ub;
CREATE TABLE su (ws TIMESTAMP(3), we TIMESTAMP(3), n BIGINT, first_id INT) WITH ('connector'='filesystem', 'path'='${OUT}/su', 'format'='json');
INSERT INTO su SELECT window_start, window_end, COUNT(*), MIN(id) FROM TABLE(TUMBLE(TABLE u, DESCRIPTOR(ts), INTERVAL '3' SECOND)) GROUP BY window_start, window_end;
CREATE TABLE tu (id INT, t STRING) WITH ('connector'='filesystem', 'path'='${OUT}/tu', 'format'='json');
INSERT INTO tu SELECT id, CAST(ts AS STRING) FROM u;
