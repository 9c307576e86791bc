CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  a BIGINT, b DOUBLE, c DECIMAL(12, 2), e STRING, f TIMESTAMP(6), g VARCHAR(3)
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk SELECT id, v, v, CAST(id AS STRING), CAST(ts AS TIMESTAMP(3)), k FROM ev WHERE id < 6;
