CREATE TABLE e (k STRING) WITH ('connector'='blackhole');
CREATE TABLE snk (a STRING) WITH ('connector'='blackhole');
INSERT INTO snk SELECT k FROM e;
