CREATE TABLE e (k STRING) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE snk (a STRING) WITH ('connector'='datagen');
INSERT INTO snk SELECT k FROM e;
