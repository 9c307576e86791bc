SET 'table.local-time-zone' = 'Asia/Tokyo';
CREATE TABLE e (id INT, ms BIGINT) WITH ('connector'='filesystem', 'path'='${IN}/ltz.json', 'format'='json');
CREATE TABLE snk (
  id INT, s STRING, ts TIMESTAMP_LTZ(3)
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, CAST(TO_TIMESTAMP_LTZ(ms, 3) AS STRING) AS s, TO_TIMESTAMP_LTZ(ms, 3) AS ts FROM e WHERE id < 4;
