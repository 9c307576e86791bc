-- A source that falls silent does not stop a query: sqlext test sql_examples/51_idle_inputs.sql
-- Its .steps file says what comes when, and what the clock shows. docs/time.md tells the rules.

SET 'table.exec.source.idle-timeout' = '1 min';
SET 'sqlext.idle.close-windows' = 'true';

CREATE TABLE till_orders (
  item STRING, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/till', 'format' = 'json', 'source.monitor-interval' = '1 s');

CREATE TABLE web_orders (
  item STRING, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/web', 'format' = 'json', 'source.monitor-interval' = '1 s');

CREATE VIEW till_and_web AS SELECT * FROM till_orders UNION ALL SELECT * FROM web_orders;

-- Step 2: web_orders holds the first minute back. Step 3: it is idle, the minute comes out. Step 4: it is back; what is
-- older than the watermark is late. Step 5: both are idle, the faster one counts. Step 6: the clock closes the last one.
SELECT window_start, COUNT(*) AS orders
FROM TABLE(TUMBLE(TABLE till_and_web, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
