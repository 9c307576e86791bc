CREATE TABLE e (a INT PRIMARY KEY NOT ENFORCED, b INT PRIMARY KEY NOT ENFORCED) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
