CREATE TABLE e (k STRING) WITH ('connector'='nosuch');
CREATE TABLE snk (k STRING) WITH ('connector'='blackhole');
INSERT INTO snk SELECT k FROM e;
