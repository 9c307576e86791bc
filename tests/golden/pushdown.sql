-- what: rows read and combined by Arrow: a filter, a condition inside an aggregate, a sub-query, a key that is computed.
-- source: arrow
-- mode: spark
SELECT k, window_start, SUM(amount) FILTER (WHERE amount > 0) AS total, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE (SELECT user_name, amount, amount + 1 AS k, ts FROM clicks WHERE user_name <> 'x'), DESCRIPTOR(ts), INTERVAL '1' MINUTE))
WHERE amount < 100 GROUP BY k, window_start, window_end;

-- becomes
-- one batch: all that there is is read at once, and no state is kept
-- view sqlext_step_1: of clicks Arrow reads user_name, amount, ts; rows are combined by key and slice where they are read
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_2 AS
SELECT bucket, rows, now
FROM sqlext_step_1;
-- view sqlext_step_3: stateful function window over sqlext_step_2
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_4 AS
SELECT
  __k0,
  __a0,
  __a1,
  named_struct('start', timestamp_millis(__start), 'end', timestamp_millis(__end)) AS __window
FROM sqlext_step_3;
-- view sqlext_step_5: sqlext_step_4 with column __window marked as event time
-- shown
SELECT k, CAST(__window.start AS TIMESTAMP_NTZ) AS window_start, total, n
FROM (
  SELECT __k0 AS k, __window, __a0 AS total, __a1 AS n
  FROM sqlext_step_5
);
