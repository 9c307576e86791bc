-- The watermark advisor: how late the rows of a table are, and what each delay would lose and cost.

CREATE TABLE arrived_readings (
  sensor STRING, degrees DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'delta', 'path' = '${OUT}/arrived_readings');

-- Each commit is what came together.
INSERT INTO arrived_readings VALUES
  ('hall', 20.5, TIMESTAMP '2024-05-01 12:00:10'), ('roof', 14.0, TIMESTAMP '2024-05-01 12:00:05');
INSERT INTO arrived_readings VALUES
  ('hall', 20.6, TIMESTAMP '2024-05-01 12:00:50'), ('roof', 14.1, TIMESTAMP '2024-05-01 12:00:35');
INSERT INTO arrived_readings VALUES
  ('hall', 20.7, TIMESTAMP '2024-05-01 12:01:20'), ('roof', 14.2, TIMESTAMP '2024-05-01 12:00:38');
INSERT INTO arrived_readings VALUES
  ('hall', 20.8, TIMESTAMP '2024-05-01 12:02:10'), ('roof', 14.4, TIMESTAMP '2024-05-01 12:00:58');

-- A row for each delay: of all rows, then of each sensor. What comes from the roof is late.
ANALYZE WATERMARK FOR arrived_readings BY sensor;

-- What another declaration would do to windows of a minute. A watermark of each sensor loses nothing, and waits.
ANALYZE WATERMARK FOR arrived_readings BY sensor
WITH ('window' = '1 min', 'delay' = '10 s', 'delays' = '10 s, 30 s', 'partitions' = '1');
ANALYZE WATERMARK FOR arrived_readings BY sensor
WITH ('window' = '1 min', 'delay' = '10 s', 'delays' = '10 s', 'per-partition' = 'true');
