CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, v INT, dy STRING, hr STRING
) PARTITIONED BY (dy, hr) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk PARTITION (dy = '2024-01-01', hr = '08') SELECT id, v FROM ev WHERE id < 4;
INSERT INTO snk PARTITION (dy = '2024-01-02') SELECT id, v, CAST(MOD(id, 2) AS STRING) FROM ev WHERE id < 4;
