CREATE TABLE e (k STRING) WITH ('connector'='filesystem','path'='${IN}/none.json','format'='json');
CREATE TABLE snk (a STRING) WITH ('connector'='blackhole');
INSERT INTO snk SELECT k FROM e;
