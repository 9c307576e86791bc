CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE VIEW w (a, b) COMMENT 'it''s' AS SELECT k, COUNT(*) FROM ev WHERE v > 1 GROUP BY k;
SHOW CREATE VIEW w;
DESCRIBE w;
