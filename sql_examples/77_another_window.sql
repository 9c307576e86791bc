-- A window goes from an hour to fifteen minutes. The new version runs beside the old one, and the difference is shown.

CREATE TABLE till (item STRING, amount DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'delta', 'path' = '${OUT}/till');

INSERT INTO till VALUES
  ('tea', 2.0, TIMESTAMP '2024-03-01 09:05:00'),
  ('tea', 3.0, TIMESTAMP '2024-03-01 09:20:00'),
  ('cake', 4.5, TIMESTAMP '2024-03-01 09:25:00'),
  ('tea', 2.5, TIMESTAMP '2024-03-01 10:10:00');

-- The query keeps its place, so each run reads what came since the one before.
SET 'sqlext.bounded' = 'catch-up';

CREATE MATERIALIZED VIEW takings AS
SELECT window_start, item, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE till, DESCRIPTOR(ts), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, item;

SELECT * FROM takings;

-- Without 'allow-differences' no row may differ, and the old version would stay.
DEPLOY WITH ('allow-differences' = '100%')
CREATE MATERIALIZED VIEW takings AS
SELECT window_start, item, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE till, DESCRIPTOR(ts), INTERVAL '15' MINUTE))
GROUP BY window_start, window_end, item;

SELECT * FROM takings;

-- The new version goes on where the old one was.
INSERT INTO till VALUES
  ('cake', 4.5, TIMESTAMP '2024-03-01 10:12:00'),
  ('tea', 2.0, TIMESTAMP '2024-03-01 10:31:00');
ALTER MATERIALIZED TABLE takings RESUME;

SELECT * FROM takings;

-- One commit brings the old version back, with its rows.
DEPLOY WITH ('rollback' = 'true')
CREATE MATERIALIZED VIEW takings AS
SELECT window_start, item, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE till, DESCRIPTOR(ts), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, item;

SELECT * FROM takings;
