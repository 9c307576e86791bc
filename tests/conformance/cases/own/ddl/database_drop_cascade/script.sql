CREATE DATABASE d1;
CREATE TABLE d1.e (id INT) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
DROP DATABASE d1 RESTRICT;
