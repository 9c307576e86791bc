CREATE TABLE ev (
  id INT, k STRING, g STRING, v INT, d DECIMAL(8,2), x DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE snk (id INT, l INT)  WITH ('connector'='filesystem', 'path'='${OUT}/snk', 'format'='json');
INSERT INTO snk
SELECT id, LAG(v, 1, NULLIF(7, 8)) OVER (PARTITION BY k ORDER BY ts) FROM ev;
