-- A source without an end runs until Ctrl-C or for a while: sqlext run 34_unbounded.sql --for '2 s'
-- Its checkpoint lies in the catalog's folder; the next run goes on where this one stopped.

CREATE TABLE ticks (
  n BIGINT, at_time TIMESTAMP_LTZ(3),
  WATERMARK FOR at_time AS at_time - INTERVAL '1' SECOND
) WITH ('connector' = 'rate', 'rows-per-second' = '10');

CREATE TABLE discarded (started TIMESTAMP(3), ticks BIGINT) WITH ('connector' = 'blackhole');

INSERT INTO discarded
SELECT window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(at_time), INTERVAL '1' SECOND))
GROUP BY window_start, window_end;
