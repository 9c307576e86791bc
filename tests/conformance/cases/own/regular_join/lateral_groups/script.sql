CREATE TABLE tn (k INT, v INT) WITH ('connector'='filesystem', 'path'='${IN}/tn.json', 'format'='json');
CREATE TABLE t1 (x INT, y STRING) WITH ('connector'='filesystem', 'path'='${IN}/t1.json', 'format'='json');
CREATE TABLE s0 (k INT, n BIGINT) WITH ('connector'='filesystem', 'path'='${OUT}/s0', 'format'='json');
INSERT INTO s0 SELECT a.x, y.n FROM t1 AS a, LATERAL (SELECT COUNT(*) AS n FROM tn WHERE tn.k = a.x) AS y;
CREATE TABLE s1 (k INT, v INT, n BIGINT) WITH ('connector'='filesystem', 'path'='${OUT}/s1', 'format'='json');
INSERT INTO s1 SELECT a.x, y.v, y.n FROM t1 AS a, LATERAL (SELECT v, COUNT(*) AS n FROM tn WHERE tn.k = a.x AND v > 9 GROUP BY v) AS y;
CREATE TABLE s2 (k INT, l INT, w STRING) WITH ('connector'='filesystem', 'path'='${OUT}/s2', 'format'='json');
INSERT INTO s2 SELECT a.x, y.k, y.w FROM t1 AS a, LATERAL (SELECT tn.k, z.y AS w FROM tn, LATERAL (SELECT y FROM t1 WHERE t1.x = tn.k) AS z WHERE tn.k = a.x) AS y;
