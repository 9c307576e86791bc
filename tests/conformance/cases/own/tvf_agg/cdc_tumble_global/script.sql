CREATE TABLE c (id INT, k STRING, v INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector'='filesystem', 'path'='${IN}/c.json', 'format'='debezium-json');
CREATE TABLE snk (ws TIMESTAMP(3), n BIGINT, s INT) WITH ('connector'='filesystem', 'path'='${OUT}/snk', 'format'='json');
INSERT INTO snk SELECT window_start, COUNT(*), SUM(v) FROM TABLE(TUMBLE(TABLE c, DESCRIPTOR(ts), INTERVAL '10' SECOND)) WHERE k <> 'zz' GROUP BY window_start, window_end;
