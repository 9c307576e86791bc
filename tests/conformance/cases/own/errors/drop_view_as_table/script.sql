CREATE TABLE e (k STRING) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE VIEW w AS SELECT k FROM e;
DROP TABLE w;
