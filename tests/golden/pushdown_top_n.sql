-- what: rows of a Top-N, read by Arrow and packed by key.
-- source: arrow
-- mode: spark
SELECT user_name, amount FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY user_name ORDER BY amount DESC) AS n FROM clicks WHERE amount > 0
) WHERE n <= 2;

-- becomes
-- one batch: all that there is is read at once, and no state is kept
-- view sqlext_step_1: of clicks Arrow reads user_name, amount, ts; rows are packed by key for `rank` where they are read
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_2 AS
SELECT bucket, rows, now
FROM sqlext_step_1;
-- view sqlext_step_3: stateful function rank over sqlext_step_2
-- shown
SELECT user_name, amount, __row_kind
FROM (
  SELECT __q0.user_name, __q0.amount, __q0.__row_kind
  FROM (
    SELECT __in.user_name, __in.amount, __in.ts, __in.__over_0 AS n, __in.__row_kind
    FROM (
      SELECT user_name, amount, ts, CAST(__number AS INT) AS __over_0, __row_kind
      FROM sqlext_step_3
    ) AS __in
  ) AS __q0
);
