-- what: both sides of a join of a table with itself, read once by Arrow and packed by key.
-- source: arrow
-- mode: spark
SELECT a.user_name, a.amount, b.amount AS other
FROM clicks AS a JOIN (SELECT * FROM clicks WHERE amount > 10) AS b
ON a.user_name = b.user_name AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' MINUTE
WHERE a.amount > 5;

-- becomes
-- one batch: all that there is is read at once, and no state is kept
-- view sqlext_step_1: of clicks Arrow reads user_name, amount, ts, once for both sides; rows are packed by key for `join` where they are read
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_2 AS
SELECT bucket, rows, now
FROM sqlext_step_1;
-- view sqlext_step_3: stateful function join over sqlext_step_2
-- shown
SELECT user_name, amount, other
FROM (
  SELECT __j1.user_name, __j1.amount, __j1.amount_1 AS other
  FROM (
    SELECT user_name, amount, user_name_1, amount_1
    FROM sqlext_step_3 AS __j1
  ) AS __j1
  WHERE __j1.amount > 5
);
