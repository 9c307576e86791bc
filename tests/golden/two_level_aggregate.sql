-- what: a GROUP BY of a GROUP BY: the lower one takes back what it gave, the upper one takes that into account.
SELECT n, COUNT(*) AS users FROM (SELECT user_name, COUNT(*) AS n FROM clicks GROUP BY user_name) GROUP BY n;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT user_name AS c0
FROM (
  SELECT
    user_name,
    amount,
    CASE
      WHEN ts IS NULL THEN CAST(raise_error('[RUN-001] rowtime clicks.ts is NULL') AS TIMESTAMP)
      ELSE ts END AS ts
  FROM sqlext_clicks
) AS clicks;
-- view sqlext_step_2: stateful function window over sqlext_step_1
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_3 AS
SELECT __k0, __a0, __row_kind
FROM sqlext_step_2;
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_4 AS
SELECT n AS c0, __row_kind AS c1
FROM (
  SELECT __k0 AS user_name, __a0 AS n, __k0 AS __key_0, __row_kind
  FROM sqlext_step_3
) AS __q0;
-- view sqlext_step_5: stateful function window over sqlext_step_4
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_6 AS
SELECT __k0, __a0, __row_kind
FROM sqlext_step_5;
-- shown
SELECT n, users, __key_0, __exists
FROM (
  SELECT __k0 AS n, __a0 AS users, __k0 AS __key_0, __row_kind <> 3 AS __exists
  FROM sqlext_step_6
  WHERE __row_kind <> 1
);
