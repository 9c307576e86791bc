CREATE TABLE e (k STRING) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE VIEW w (a, b) AS SELECT k FROM e;
