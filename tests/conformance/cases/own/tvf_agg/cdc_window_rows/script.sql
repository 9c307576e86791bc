CREATE TABLE c (id INT, k STRING, v INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector'='filesystem', 'path'='${IN}/c.json', 'format'='debezium-json');
CREATE TABLE snk (ws TIMESTAMP(3), id INT, k STRING, v INT) WITH ('connector'='filesystem', 'path'='${OUT}/snk', 'format'='json');
INSERT INTO snk SELECT window_start, id, k, v FROM TABLE(TUMBLE(TABLE c, DESCRIPTOR(ts), INTERVAL '10' SECOND));
