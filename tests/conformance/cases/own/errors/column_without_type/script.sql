CREATE TABLE e (k, v INT) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
