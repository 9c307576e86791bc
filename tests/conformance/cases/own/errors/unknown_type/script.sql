CREATE TABLE e (a FOO) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
