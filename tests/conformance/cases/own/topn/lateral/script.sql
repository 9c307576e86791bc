CREATE TABLE tn (k INT, v INT) WITH ('connector'='filesystem', 'path'='${IN}/tn.json', 'format'='json');
CREATE TABLE t1 (x INT, y STRING) WITH ('connector'='filesystem', 'path'='${IN}/t1.json', 'format'='json');
CREATE TABLE s0 (k INT, v INT) WITH ('connector'='filesystem', 'path'='${OUT}/s0', 'format'='json');
INSERT INTO s0 SELECT a.x, y.v FROM (SELECT DISTINCT x FROM t1) AS a, LATERAL (SELECT v FROM tn WHERE k = a.x ORDER BY v DESC LIMIT 1) AS y;
CREATE TABLE s1 (k INT, v INT) WITH ('connector'='filesystem', 'path'='${OUT}/s1', 'format'='json');
INSERT INTO s1 SELECT a.k, y.v FROM (SELECT DISTINCT k FROM tn) AS a, LATERAL (SELECT v FROM tn WHERE k = a.k ORDER BY v DESC LIMIT 2) AS y;
CREATE TABLE s2 (k INT, v INT) WITH ('connector'='filesystem', 'path'='${OUT}/s2', 'format'='json');
INSERT INTO s2 SELECT a.k, y.v FROM (SELECT DISTINCT k FROM tn) AS a, LATERAL (SELECT v FROM tn WHERE k = a.k ORDER BY v LIMIT 2) AS y;
