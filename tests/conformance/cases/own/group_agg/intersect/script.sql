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
  num INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT num FROM LeftTable INTERSECT SELECT num FROM RightTable;
