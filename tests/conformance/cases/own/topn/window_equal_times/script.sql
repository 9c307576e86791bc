CREATE TABLE w (
  id INT, g STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH (
  'connector'='filesystem',
  'path'='${IN}/w.json',
  'format'='json'
);
CREATE TABLE last_one (
  id INT, g STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/last_one',
  'format'='json'
);
CREATE TABLE first_one (
  id INT, g STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/first_one',
  'format'='json'
);
CREATE TABLE last_two (
  id INT, g STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/last_two',
  'format'='json'
);
CREATE TABLE second_one (
  id INT, g STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/second_one',
  'format'='json'
);
CREATE TABLE more_keys (
  id INT, g STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/more_keys',
  'format'='json'
);
CREATE TABLE by_window_time (
  id INT, g STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/by_window_time',
  'format'='json'
);
CREATE TABLE by_id_part (
  id INT, g STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/by_id_part',
  'format'='json'
);
INSERT INTO last_one
SELECT id, g FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, g ORDER BY ts DESC) AS rn
  FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
) WHERE rn = 1;
INSERT INTO first_one
SELECT id, g FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, g ORDER BY ts) AS rn
  FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
) WHERE rn = 1;
INSERT INTO last_two
SELECT id, g FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, g ORDER BY ts DESC) AS rn
  FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
) WHERE rn <= 2;
INSERT INTO second_one
SELECT id, g FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, g ORDER BY ts DESC) AS rn
  FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
) WHERE rn = 2;
INSERT INTO more_keys
SELECT id, g FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, g ORDER BY ts DESC, g) AS rn
  FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
) WHERE rn = 1;
INSERT INTO by_window_time
SELECT id, g FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, g ORDER BY window_time DESC) AS rn
  FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
) WHERE rn = 1;
INSERT INTO by_id_part
SELECT id, g FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, g ORDER BY id / 10 DESC) AS rn
  FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
) WHERE rn = 1;
