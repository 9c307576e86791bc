-- A materialized view is a Delta table kept by a query of its name: the table lies below the catalog's folder, unless
-- WITH gives it a path. Over sources that do not end the query runs on; CREATE again goes on where it was.

CREATE TABLE clicks (
  user_id STRING, page STRING, `at` BIGINT,
  ts AS TO_TIMESTAMP_LTZ(`at`, 3),
  WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
) WITH ('connector' = 'filesystem', 'path' = '${IN}/clicks', 'format' = 'json');

-- Final rows of windows, as RisingWave writes it.
CREATE MATERIALIZED VIEW clicks_per_minute AS
SELECT window_start, window_end, COUNT(*) AS clicks
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end
EMIT ON WINDOW CLOSE;

-- An updating query: its key is the table's PRIMARY KEY, and each row holds what is known now.
CREATE MATERIALIZED VIEW clicks_per_user (user_id, clicks) AS
SELECT user_id, COUNT(*) FROM clicks GROUP BY user_id;

-- Flink's materialized table is the same. Its query runs on, so it is as fresh as it can be.
CREATE MATERIALIZED TABLE clicks_per_page (PRIMARY KEY (page) NOT ENFORCED)
FRESHNESS = INTERVAL '1' MINUTE REFRESH_MODE = CONTINUOUS
AS SELECT page, COUNT(*) AS clicks FROM clicks GROUP BY page;

DESCRIBE clicks_per_user;
SELECT * FROM clicks_per_minute;
SELECT * FROM clicks_per_user;
SELECT * FROM clicks_per_page;

-- Stops the query and takes its state, the table and, as they lie in the catalog's folder, the rows with it.
DROP MATERIALIZED VIEW clicks_per_minute;
DROP MATERIALIZED VIEW clicks_per_user;
DROP MATERIALIZED TABLE clicks_per_page;
