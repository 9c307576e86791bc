CREATE TABLE c (ti TINYINT, si SMALLINT, i INT, bi BIGINT, f FLOAT, d DOUBLE, de DECIMAL(8, 3), b BOOLEAN, dt DATE, tm TIME, ts TIMESTAMP(3), lt TIMESTAMP_LTZ(3)) WITH ('connector'='filesystem', 'path'='${IN}/c.csv', 'format'='csv', 'csv.null-literal'='NULL');
CREATE TABLE snk (
  ti TINYINT, si SMALLINT, i INT, bi BIGINT, f FLOAT, d DOUBLE, de DECIMAL(8, 3), b BOOLEAN, dt DATE, tm TIME(0), ts TIMESTAMP(3), lt TIMESTAMP_LTZ(3)
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT * FROM c;
