CREATE TABLE e (a INT) PARTITIONED BY (b) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
