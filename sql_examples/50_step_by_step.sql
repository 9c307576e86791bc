-- A query that never ends, tested in seconds: sqlext test sql_examples/50_step_by_step.sql
-- Its .steps file says what comes when: rows for folders below IN, and what the clock shows. docs/shell.md tells more.

CREATE TABLE live_orders (
  item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/live', 'format' = 'json', 'source.monitor-interval' = '1 s');

-- A first guess after each ten seconds of the clock, the result when the watermark passes the end of the minute.
SELECT item, SUM(amount) AS total, COUNT(*) AS orders, PANE_TIMING() AS timing
FROM TABLE(TUMBLE(TABLE live_orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY item, window_start, window_end
EMIT AFTER WATERMARK EARLY EVERY 10s;
