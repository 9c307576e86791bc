CREATE TABLE d (id INT, k STRING, v INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector'='filesystem','path'='${IN}/d','format'='debezium-json');
CREATE TABLE o WITH ('connector'='filesystem','path'='${OUT}/o','format'='json') AS SELECT k, v FROM (SELECT k, v, window_start FROM TUMBLE(TABLE d, DESCRIPTOR(pt), INTERVAL '1' DAY));
