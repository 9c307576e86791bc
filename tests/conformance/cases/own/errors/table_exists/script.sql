CREATE TABLE e (a INT) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE e (a INT) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
