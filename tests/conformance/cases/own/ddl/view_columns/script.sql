CREATE TABLE e (id INT, k STRING, v INT, ts TIMESTAMP(3)) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE VIEW w (a, b) COMMENT 'c' AS SELECT id, UPPER(k) FROM e;
ALTER VIEW w RENAME TO w2;
CREATE TABLE snk (
  a INT, b STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT a, b FROM w2 WHERE a < 5;
