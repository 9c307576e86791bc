CREATE TABLE days (
  id INT, k STRING, v INT, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH (
  'connector'='filesystem',
  'path'='${IN}/days.csv',
  'format'='csv',
  'csv.null-literal'=''
);
CREATE VIEW a AS SELECT window_start AS ws, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE days, DESCRIPTOR(ts), INTERVAL '1' DAY, INTERVAL '8' HOUR)) GROUP BY window_start, window_end;
CREATE VIEW b AS SELECT window_start AS ws, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE days, DESCRIPTOR(ts), INTERVAL '1' DAY, INTERVAL '-8' HOUR)) GROUP BY window_start, window_end;
CREATE TABLE snk (
  w CHAR(1), ws TIMESTAMP(3), c BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT 'a' AS w, ws, c FROM a UNION ALL SELECT 'b', ws, c FROM b;
