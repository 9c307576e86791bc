-- A stream without a JVM: this process runs it, micro-batch by micro-batch. EXPLAIN says who runs it, and why.

CREATE TABLE door_events (door STRING, opened BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH (
  'connector' = 'filesystem', 'path' = '${IN}/door_events', 'format' = 'json', 'source.monitor-interval' = '1 s');

CREATE TABLE openings (door STRING, minute TIMESTAMP(3), n BIGINT) WITH (
  'connector' = 'delta', 'path' = '${OUT}/openings');

CREATE TABLE open_now (door STRING, n BIGINT, PRIMARY KEY (door) NOT ENFORCED) WITH (
  'connector' = 'delta', 'path' = '${OUT}/open_now');

SET 'sqlext.engine' = 'local';

-- Counts come out early each second of the clock, and once more when the minute is over.
EXPLAIN INSERT INTO openings
SELECT door, window_start, SUM(opened)
FROM TABLE(TUMBLE(TABLE door_events, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY door, window_start, window_end
EMIT AFTER WATERMARK EARLY EVERY 1s;

-- The current row of each key is merged into its table.
EXPLAIN INSERT INTO open_now SELECT door, SUM(opened) FROM door_events GROUP BY door;
