CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, s STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, s FROM strs WHERE CHAR_LENGTH(s) > 3 AND (UPPER(s) LIKE '%L%' OR REGEXP(s, '^a')) AND NOT (COALESCE(n, 0) BETWEEN 1 AND 5);
