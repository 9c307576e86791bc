CREATE TABLE e (id INT, k STRING, v INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector'='filesystem','path'='${IN}/e','format'='json');
CREATE TABLE o WITH ('connector'='filesystem','path'='${OUT}/o','format'='json') AS SELECT k, COUNT(*) AS n FROM SESSION(TABLE e PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY k;
