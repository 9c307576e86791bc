-- what: windows below another operator of ours are combined where rows are read: Spark keeps nothing.
-- source: arrow
SELECT user_name, total, window_start FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY total DESC) AS place FROM (
    SELECT user_name, window_start, window_end, SUM(amount) AS total
    FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY user_name, window_start, window_end))
WHERE place <= 3;

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
  named_struct('start', timestamp_millis(__start), 'end', timestamp_millis(__end)) AS __window
FROM sqlext_step_3;
-- view sqlext_step_5: sqlext_step_4 with column __window marked as event time
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_6 AS
SELECT
  unix_millis(__window.start) AS c0,
  unix_millis(__window.end) AS c1,
  user_name AS c2,
  __window AS c3,
  total AS c4
FROM (
  SELECT __q0.user_name, __q0.__window, __q0.total
  FROM (
    SELECT __k0 AS user_name, __window, (CAST(shiftright(shiftleft(__a0, 32), 32) AS INT)) AS total
    FROM sqlext_step_5
  ) AS __q0
) AS __in;
-- view sqlext_step_7: stateful function rank over sqlext_step_6
-- shown
SELECT user_name, total, CAST(__window.start AS TIMESTAMP_NTZ) AS window_start
FROM (
  SELECT __q0.user_name, __q0.total, __q0.__window
  FROM (
    SELECT __in.user_name, __in.__window, __in.total, __in.__over_0 AS place
    FROM (
      SELECT user_name, __window, total, CAST(__number AS BIGINT) AS __over_0
      FROM sqlext_step_7
    ) AS __in
  ) AS __q0
);
