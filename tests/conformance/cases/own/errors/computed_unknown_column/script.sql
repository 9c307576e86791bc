CREATE TABLE e (a INT, b AS zz + 1) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
