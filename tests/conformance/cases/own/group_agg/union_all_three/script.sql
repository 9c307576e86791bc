CREATE TABLE LeftTable (
  row_time TIMESTAMP(3), num INT, id STRING,
  WATERMARK FOR row_time AS row_time - INTERVAL '5' MINUTE
) WITH (
  'connector'='filesystem',
  'path'='${IN}/left.json',
  'format'='json'
);
CREATE TABLE RightTable (
  row_time TIMESTAMP(3), num INT, id STRING,
  WATERMARK FOR row_time AS row_time - INTERVAL '5' MINUTE
) WITH (
  'connector'='filesystem',
  'path'='${IN}/right.json',
  'format'='json'
);
CREATE TABLE snk (
  src CHAR(1), num INT, id STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT 'l' AS src, num, id FROM LeftTable UNION ALL SELECT 'r', num, id FROM RightTable UNION ALL SELECT 'x', 0, 'none' FROM LeftTable WHERE num = 1;
