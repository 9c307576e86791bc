CREATE TABLE e (a TIMESTAMP(3), WATERMARK FOR a AS zz - INTERVAL '1' SECOND) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
