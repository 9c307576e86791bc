-- what: in one batch groups of groups are ours too: rows are combined where they are read, and where windows come out.
-- source: arrow
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE (
  SELECT user_name, window_start, window_end, window_time AS ts FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
  GROUP BY user_name, window_start, window_end, window_time
), DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;

-- becomes
-- one batch: all that there is is read at once, and no state is kept
-- view sqlext_step_1: of clicks Arrow reads user_name, ts; rows are combined by key and slice where they are read
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_2 AS
SELECT bucket, rows, now
FROM sqlext_step_1;
-- view sqlext_step_3: stateful function window over sqlext_step_2
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_4 AS
SELECT
  __k0,
  named_struct('start', timestamp_millis(__start), 'end', timestamp_millis(__end)) AS __window
FROM sqlext_step_3;
-- view sqlext_step_5: sqlext_step_4 with column __window marked as event time
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_6 AS
SELECT unix_millis((__window.end - INTERVAL '0.001' SECOND)) AS c0
FROM (
  SELECT user_name, __window
  FROM (
    SELECT __k0 AS user_name, __window
    FROM sqlext_step_5
  ) AS __q0
) AS __q0;
-- view sqlext_step_7: stateful function window over sqlext_step_6
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_8 AS
SELECT
  __a0,
  named_struct('start', timestamp_millis(__start), 'end', timestamp_millis(__end)) AS __window
FROM sqlext_step_7;
-- view sqlext_step_9: sqlext_step_8 with column __window marked as event time
-- shown
SELECT CAST(__window.start AS TIMESTAMP_NTZ) AS window_start, n
FROM (
  SELECT __window, __a0 AS n
  FROM sqlext_step_9
);
