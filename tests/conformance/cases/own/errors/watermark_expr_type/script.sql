CREATE TABLE e (a TIMESTAMP(3), k STRING, WATERMARK FOR a AS k) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
