-- what: windows below each side of a join of ours are combined where rows are read, as Spark keeps nothing above them.
-- source: arrow
SELECT a.user_name, a.total, b.n FROM (
  SELECT user_name, window_start, window_end, SUM(amount) AS total
  FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY user_name, window_start, window_end) a
JOIN (
  SELECT user_name, window_start, window_end, COUNT(*) AS n
  FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY user_name, window_start, window_end) b
ON a.user_name = b.user_name AND a.window_start = b.window_start AND a.window_end = b.window_end;

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
-- view sqlext_step_6: of clicks Arrow reads user_name, ts; rows are combined by key and slice where they are read
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_7 AS
SELECT bucket, rows, now
FROM sqlext_step_6;
-- view sqlext_step_8: stateful function window over sqlext_step_7
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_9 AS
SELECT
  __k0,
  __a0,
  named_struct('start', timestamp_millis(__start), 'end', timestamp_millis(__end)) AS __window
FROM sqlext_step_8;
-- view sqlext_step_10: sqlext_step_9 with column __window marked as event time
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_11 AS
SELECT
  a.user_name AS c0,
  CAST(a.__window.start AS TIMESTAMP_NTZ) AS c1,
  CAST(a.__window.end AS TIMESTAMP_NTZ) AS c2,
  CAST(0 AS TINYINT) AS c3,
  a.user_name AS c4,
  a.__window AS c5,
  a.total AS c6,
  NULL AS c7,
  NULL AS c8,
  NULL AS c9,
  unix_millis(a.__window.end) AS c10
FROM (
  SELECT __k0 AS user_name, __window, (CAST(shiftright(shiftleft(__a0, 32), 32) AS INT)) AS total
  FROM sqlext_step_5
) AS a
UNION ALL
SELECT
  b.user_name AS c0,
  CAST(b.__window.start AS TIMESTAMP_NTZ) AS c1,
  CAST(b.__window.end AS TIMESTAMP_NTZ) AS c2,
  CAST(1 AS TINYINT) AS c3,
  NULL AS c4,
  NULL AS c5,
  NULL AS c6,
  b.user_name AS c7,
  b.__window AS c8,
  b.n AS c9,
  unix_millis(b.__window.end) AS c10
FROM (
  SELECT __k0 AS user_name, __window, __a0 AS n
  FROM sqlext_step_10
) AS b;
-- view sqlext_step_12: stateful function join over sqlext_step_11
-- shown
SELECT user_name, total, n
FROM (
  SELECT __j1.user_name, __j1.total, __j1.n
  FROM (
    SELECT user_name, __window, total, user_name_1, __window_1, n
    FROM sqlext_step_12 AS __j1
  ) AS __j1
);
