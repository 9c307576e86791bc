SET 'execution.runtime-mode' = 'sometimes';
CREATE TABLE e (k STRING) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE snk (a STRING) WITH ('connector'='blackhole');
INSERT INTO snk SELECT k FROM e;
