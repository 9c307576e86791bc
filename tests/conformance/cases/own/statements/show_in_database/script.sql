CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE DATABASE d1;
CREATE TABLE d1.x (a INT) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
SHOW DATABASES;
SHOW TABLES FROM d1;
SHOW TABLES IN default_catalog.d1 LIKE 'x%';
USE d1;
SHOW CURRENT DATABASE;
SHOW TABLES;
SHOW COLUMNS FROM d1.x;
DESCRIBE default_catalog.default_database.ev;
SHOW CREATE TABLE x;
