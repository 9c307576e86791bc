-- what: groups without a window that Spark could keep, combined by Arrow.
-- source: arrow
-- mode: spark
SELECT user_name, COUNT(*) AS n, SUM(amount) AS total FROM clicks WHERE amount > 0
GROUP BY user_name HAVING COUNT(*) > 1;

-- becomes
-- one batch: all that there is is read at once, and no state is kept
-- view sqlext_step_1: of clicks Arrow reads user_name, amount, ts; rows are combined by key and slice where they are read
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_2 AS
SELECT bucket, rows, now
FROM sqlext_step_1;
-- view sqlext_step_3: stateful function window over sqlext_step_2
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_4 AS
SELECT __k0, __a0, __a1
FROM sqlext_step_3;
-- shown
SELECT user_name, n, total, __key_0, __exists
FROM (
  SELECT __k0 AS user_name, __a0 AS n, __a1 AS total, __k0 AS __key_0, (__a0 > 1) AS __exists
  FROM sqlext_step_4
);
