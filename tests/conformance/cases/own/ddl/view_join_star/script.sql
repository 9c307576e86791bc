CREATE TABLE l (id INT, a INT, b STRING) WITH ('connector'='filesystem', 'path'='${IN}/l.json', 'format'='json');
CREATE TABLE r (id INT, a INT, a0 INT) WITH ('connector'='filesystem', 'path'='${IN}/r.json', 'format'='json');

CREATE VIEW v AS SELECT * FROM l JOIN r ON l.id = r.id;
DESCRIBE v;
SHOW CREATE VIEW v;
CREATE VIEW w AS SELECT r.*, x.* FROM r JOIN l AS x ON x.id = r.id JOIN l ON l.id = r.id;
DESCRIBE w;
CREATE VIEW u AS SELECT id, * FROM l;
DESCRIBE u;
CREATE VIEW n AS SELECT * FROM l JOIN r USING (id);
DESCRIBE n;
CREATE TABLE s (id INT, id0 INT, a00 INT) WITH ('connector'='filesystem', 'path'='${OUT}/s', 'format'='json');
INSERT INTO s SELECT id, id0, a00 FROM v WHERE a0 > 1;
CREATE TABLE t (id0 INT, b STRING) WITH ('connector'='filesystem', 'path'='${OUT}/t', 'format'='json');
INSERT INTO t SELECT q.id0, q.b FROM (SELECT * FROM l JOIN r ON l.id = r.id) AS q WHERE q.id = 1;
