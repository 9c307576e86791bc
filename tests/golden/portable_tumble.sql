-- what: The batch form, for a bare spark-sql session.
-- output: spark-sql
SELECT user_name, window_start, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY user_name, window_start, window_end;

-- becomes
SET spark.sql.session.timeZone=UTC;
SET spark.sql.ansi.enabled=true;
SET spark.sql.caseSensitive=true;
CREATE OR REPLACE TEMPORARY VIEW sqlext_clicks_raw (user_name STRING, amount INT, ts TIMESTAMP) USING json OPTIONS ('mode' 'FAILFAST', 'timeZone' 'UTC', 'recursiveFileLookup' 'true', 'path' '/in/clicks');
CREATE OR REPLACE TEMPORARY VIEW sqlext_clicks AS SELECT user_name, amount, ts FROM sqlext_clicks_raw;
SELECT user_name, CAST(__window.start AS TIMESTAMP_NTZ) AS window_start, n
FROM (
  SELECT user_name, __q0.__window, COUNT(*) AS n
  FROM (
    SELECT user_name, amount, ts, window(ts, '1 minute') AS __window
    FROM sqlext_clicks AS clicks
  ) AS __q0
  GROUP BY __window, user_name
);
