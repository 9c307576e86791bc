-- what: A changelog becomes rows with a code, and rows with a code become a changelog.
SELECT code, user_name, n FROM TO_CHANGELOG(
  input => (SELECT user_name, COUNT(*) AS n FROM clicks GROUP BY user_name),
  op => DESCRIPTOR(code)
);

SELECT user_name, SUM(amount) FROM FROM_CHANGELOG(
  input => (SELECT user_name, amount, country AS kind FROM clicks, users WHERE user_name = name),
  op => DESCRIPTOR(kind), op_mapping => MAP['c, r', 'INSERT', 'd', 'DELETE']
) GROUP BY user_name;

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
-- shown
SELECT code, user_name, n
FROM (
  SELECT __q0.__op AS code, __q0.user_name, __q0.n
  FROM (
    SELECT
      CASE __row_kind
        WHEN 0 THEN 'INSERT'
        WHEN 1 THEN 'UPDATE_BEFORE'
        WHEN 2 THEN 'UPDATE_AFTER'
        WHEN 3 THEN 'DELETE' END AS __op,
      user_name,
      n
    FROM (
      SELECT __k0 AS user_name, __a0 AS n, __k0 AS __key_0, __row_kind
      FROM sqlext_step_3
    ) AS __q0
    WHERE __row_kind IN (0, 1, 2, 3)
  ) AS __q0
);

-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_users: read csv /in/users (mode='FAILFAST', sep=',', quote='"', escape='"', recursiveFileLookup='true')
--   columns name STRING, country STRING
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT user_name AS c0, __row_kind AS c1, amount AS c2
FROM (
  SELECT
    user_name,
    amount,
    CAST(CASE kind WHEN 'c' THEN 0 WHEN 'r' THEN 0 WHEN 'd' THEN 3 ELSE raise_error(concat('[RUN-045] FROM_CHANGELOG knows no operation ', coalesce(kind, 'NULL'))) END AS TINYINT) AS __row_kind
  FROM (
    SELECT clicks.user_name, clicks.amount, users.country AS kind
    FROM (
      SELECT
        user_name,
        amount,
        CASE
          WHEN ts IS NULL THEN CAST(raise_error('[RUN-001] rowtime clicks.ts is NULL') AS TIMESTAMP)
          ELSE ts END AS ts
      FROM sqlext_clicks
    ) AS clicks
    CROSS JOIN sqlext_users AS users
    WHERE user_name = name
  ) AS __q0
) AS __q0;
-- view sqlext_step_2: stateful function window over sqlext_step_1
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_3 AS
SELECT __k0, __a0, __row_kind
FROM sqlext_step_2;
-- shown
SELECT user_name, `EXPR$1`, __key_0, __exists
FROM (
  SELECT
    __k0 AS user_name,
    (CAST(shiftright(shiftleft(__a0, 32), 32) AS INT)) AS `EXPR$1`,
    __k0 AS __key_0,
    __row_kind <> 3 AS __exists
  FROM sqlext_step_3
  WHERE __row_kind <> 1
);
