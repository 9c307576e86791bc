-- what: Top-N: the range in the WHERE around a number; the number is not looked at, so it stays out.
SELECT user_name, amount FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY user_name ORDER BY amount DESC, ts) AS rn FROM clicks
) WHERE rn <= 3 AND amount > 1;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT user_name AS c0, amount AS c1, ts AS c2, CAST(__in.ts AS TIMESTAMP_NTZ) AS c3
FROM (
  SELECT clicks.user_name, clicks.amount, clicks.ts
  FROM (
    SELECT
      user_name,
      amount,
      CASE
        WHEN ts IS NULL THEN CAST(raise_error('[RUN-001] rowtime clicks.ts is NULL') AS TIMESTAMP)
        ELSE ts END AS ts
    FROM sqlext_clicks
  ) AS clicks
) AS __in;
-- view sqlext_step_2: stateful function rank over sqlext_step_1
-- shown
SELECT user_name, amount, __row_kind
FROM (
  SELECT __q0.user_name, __q0.amount, __q0.__row_kind
  FROM (
    SELECT __in.user_name, __in.amount, __in.ts, __in.__over_0 AS rn, __in.__row_kind
    FROM (
      SELECT user_name, amount, ts, CAST(__number AS BIGINT) AS __over_0, __row_kind
      FROM sqlext_step_2
    ) AS __in
  ) AS __q0
  WHERE (amount > 1)
);
