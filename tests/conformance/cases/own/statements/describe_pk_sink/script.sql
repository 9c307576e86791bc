CREATE TABLE t (a INT, b STRING, c DOUBLE, PRIMARY KEY (b, a) NOT ENFORCED) PARTITIONED BY (b) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
DESCRIBE t;
SHOW CREATE TABLE t;
ALTER TABLE t DROP CONSTRAINT PK_b_a;
DESCRIBE t;
