CREATE TABLE typed (
  id INT, ti TINYINT, si SMALLINT, i INT, bi BIGINT, f FLOAT, d DOUBLE, de DECIMAL(12, 4), b BOOLEAN, s STRING, c5 CHAR(5), v5 VARCHAR(5), dt DATE, tm TIME(0), t3 TIMESTAMP(3), t6 TIMESTAMP(6), lt TIMESTAMP_LTZ(3), ai ARRAY<INT>, m MAP<STRING, INT>, r ROW<a INT, b STRING>, byt VARBINARY(10)
) WITH (
  'connector'='filesystem',
  'path'='${IN}/typed.json',
  'format'='json'
);
CREATE VIEW a AS SELECT SUM(ti) AS a1, SUM(si) AS a2, SUM(i) AS a3, SUM(bi) AS a4, SUM(f) AS a5, SUM(d) AS a6, SUM(de) AS a7, AVG(ti) AS b1, AVG(si) AS b2, AVG(i) AS b3, AVG(bi) AS b4, AVG(f) AS b5, AVG(d) AS b6, AVG(de) AS b7, MIN(s) AS c1, MAX(dt) AS c2, MAX(t3) AS c3, MIN(c5) AS c4, COUNT(*) AS d1, STDDEV_POP(i) AS e1, VAR_SAMP(d) AS e2, STDDEV_SAMP(de) AS e3, LISTAGG(s) AS f1, COLLECT(s) AS f2, ARRAY_AGG(i) AS f3, FIRST_VALUE(i) AS g1, LAST_VALUE(s) AS g2, JSON_ARRAYAGG(i) AS h1, PERCENTILE(i, 0.5) AS p1 FROM typed;
DESCRIBE a;
CREATE VIEW b AS SELECT k, COUNT(*) AS n, GROUPING(k) AS g FROM (SELECT s AS k FROM typed) GROUP BY ROLLUP (k);
DESCRIBE b;
