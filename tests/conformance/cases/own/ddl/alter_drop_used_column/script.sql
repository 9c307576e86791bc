CREATE TABLE e (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
ALTER TABLE e DROP ts;
