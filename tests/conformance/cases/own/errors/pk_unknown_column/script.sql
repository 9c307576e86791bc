CREATE TABLE e (a INT, PRIMARY KEY (b) NOT ENFORCED) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
