CREATE TABLE e (k STRING) WITH ('connector'='filesystem','path'='${IN}/ev.json');
CREATE TABLE snk (k STRING) WITH ('connector'='blackhole');
INSERT INTO snk SELECT k FROM e;
