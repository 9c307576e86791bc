CREATE TABLE l (id INT, a INT, b STRING) WITH ('connector'='filesystem', 'path'='${IN}/l.json', 'format'='json');
CREATE TABLE r (id INT, a INT, a0 INT) WITH ('connector'='filesystem', 'path'='${IN}/r.json', 'format'='json');
CREATE VIEW v AS SELECT l.*, r.*, l.id AS id0 FROM l JOIN r ON l.id = r.id;
