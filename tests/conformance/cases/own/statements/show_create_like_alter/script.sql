CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE e (extra STRING, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE) LIKE ev (OVERWRITING WATERMARKS);
SHOW CREATE TABLE e;
ALTER TABLE e ADD (n BIGINT COMMENT 'added', vv AS v + 1);
ALTER TABLE e MODIFY (v BIGINT);
ALTER TABLE e DROP d;
ALTER TABLE e SET ('json.ignore-parse-errors' = 'true');
DESCRIBE e;
SHOW CREATE TABLE e;
ALTER TABLE e DROP WATERMARK;
ALTER TABLE e RESET ('json.ignore-parse-errors');
DESCRIBE e;
SHOW CREATE TABLE e;
