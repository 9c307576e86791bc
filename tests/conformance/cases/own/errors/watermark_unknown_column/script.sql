CREATE TABLE e (a TIMESTAMP(3), WATERMARK FOR b AS b) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
