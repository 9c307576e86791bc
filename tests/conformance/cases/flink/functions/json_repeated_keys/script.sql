CREATE TABLE r (
  id INT, k STRING NOT NULL, n INT
) WITH (
  'connector'='filesystem',
  'path'='${IN}/rows.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 STRING, c2 STRING, c3 STRING, c4 STRING, c5 STRING, c6 STRING, c7 STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  JSON_OBJECT('a' VALUE 1, 'a' VALUE 2),
  JSON_OBJECT('b' VALUE 1, 'a' VALUE 2, 'b' VALUE n),
  JSON_OBJECT('a' VALUE 1, 'a' VALUE n ABSENT ON NULL),
  JSON_OBJECT(KEY k VALUE 1, KEY 'a' VALUE 2, KEY 'b' VALUE n),
  JSON_OBJECT(KEY k VALUE 1, KEY 'a' VALUE n, KEY 'c' VALUE n ABSENT ON NULL),
  U&'!00e4!!' UESCAPE '!',
  U&'it''s \00e4\\'
FROM r;
