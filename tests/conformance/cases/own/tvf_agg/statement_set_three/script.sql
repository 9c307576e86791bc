CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE a (
  k STRING, ws TIMESTAMP(3), c BIGINT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/a',
  'format'='json'
);
CREATE TABLE b (
  ws TIMESTAMP(3), s INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/b',
  'format'='json'
);
CREATE TABLE c (
  id INT, k STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/c',
  'format'='json'
);
EXECUTE STATEMENT SET
BEGIN
INSERT INTO a SELECT k, window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end;
INSERT INTO b SELECT window_start, SUM(v) FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '2' MINUTE)) GROUP BY window_start, window_end;
INSERT INTO c SELECT id, k FROM ev WHERE v > 8;
END;
