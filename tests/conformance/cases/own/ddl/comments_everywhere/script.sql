/* head ; */ CREATE TABLE e ( -- a ; b
  id INT COMMENT 'the; id', /* x */ k STRING
) COMMENT 'it''s; a table' WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json'); -- end
CREATE TABLE snk (
  a STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
/* c1 */ INSERT /* c2 */ INTO snk -- c3
SELECT k || ';--/*' FROM e WHERE id < 4 /* tail */;
