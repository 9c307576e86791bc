CREATE TABLE c (id INT, k STRING, v INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector'='filesystem', 'path'='${IN}/c.json', 'format'='debezium-json');
CREATE TABLE e (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector'='filesystem', 'path'='${IN}/e.json', 'format'='json');
CREATE VIEW j AS SELECT c.id, c.ts FROM c JOIN e ON c.k = e.k;
CREATE TABLE snk (ws TIMESTAMP(3), n BIGINT) WITH ('connector'='filesystem', 'path'='${OUT}/snk', 'format'='json');
INSERT INTO snk SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE j, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
