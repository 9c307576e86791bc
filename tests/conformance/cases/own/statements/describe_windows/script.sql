CREATE TABLE ev (
  id INT, k STRING, v INT, d DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ev.json',
  'format'='json'
);
CREATE TABLE ltz (
  id INT, k STRING, v INT, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/ltz.json',
  'format'='json'
);
CREATE VIEW a AS SELECT * FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' MINUTE));
DESCRIBE a;
CREATE VIEW ev2 AS SELECT k, v, d, ts FROM ev;
CREATE VIEW b AS SELECT k, window_start, window_end, window_time, COUNT(*) AS c, SUM(v) AS s, AVG(d) AS a, MAX(ts) AS m FROM TABLE(HOP(TABLE ev2, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE)) GROUP BY k, window_start, window_end, window_time;
DESCRIBE b;
CREATE VIEW c AS SELECT TUMBLE_START(ts, INTERVAL '1' MINUTE) AS a, TUMBLE_END(ts, INTERVAL '1' MINUTE) AS b, TUMBLE_ROWTIME(ts, INTERVAL '1' MINUTE) AS c, COUNT(*) AS n FROM ltz GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE);
DESCRIBE c;
