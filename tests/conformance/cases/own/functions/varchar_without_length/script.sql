CREATE TABLE t (
  id INT, x VARCHAR, ar ARRAY<VARCHAR>, m MAP<VARCHAR, VARCHAR>, r ROW<a VARCHAR, b CHARACTER VARYING>,
  twice AS CAST(id * 111 AS VARCHAR)
) WITH ('connector'='filesystem', 'path'='${IN}/t.json', 'format'='json');
CREATE VIEW w AS SELECT id, CAST(x AS CHAR VARYING) AS y, CAST(x AS VARBINARY) AS by1, CAST(x AS VARCHAR(2)) AS two FROM t;
DESCRIBE w;
CREATE TABLE copied WITH ('connector'='filesystem', 'path'='${OUT}/copied', 'format'='json') AS
SELECT id, CAST(x AS VARCHAR) AS x, ar, m, r, twice, TRY_CAST(id + 1000 AS VARCHAR) AS z FROM t;
DESCRIBE copied;
CREATE TABLE s (
  id INT, a VARCHAR, b VARCHAR(3), c CHAR(3), d VARCHAR(10), e VARBINARY, f BINARY VARYING, ar ARRAY<VARCHAR>,
  r ROW<a VARCHAR, b VARCHAR>, j VARCHAR
) WITH ('connector'='filesystem', 'path'='${OUT}/s', 'format'='json');
DESCRIBE s;
INSERT INTO s
SELECT w.id, x, x, CAST(x AS CHAR(3)), x, CAST(x AS BYTES), CAST(y AS VARBINARY), ar, CAST(ROW(x, x) AS ROW<a VARCHAR, b VARCHAR>),
  JSON_VALUE('{"k": "a value"}', '$.k' RETURNING VARCHAR)
FROM (SELECT id, x, CAST(x AS VARCHAR) AS y, ar FROM t) AS w;
