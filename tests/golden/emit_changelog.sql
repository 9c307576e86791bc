-- what: A changelog of a GROUP BY without window; a trigger looks at a value of each row.
SELECT user_name, SUM(amount) AS total, ROW_KIND() AS kind
FROM clicks
GROUP BY user_name
EMIT CHANGELOG AFTER ABS DELTA OF (amount) > 2.5;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT user_name AS c0, CAST(amount AS DOUBLE) AS c1, amount AS c2
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
SELECT __k0, __a0, element_at(array('+I', '-U', '+U', '-D', NULL), __row_kind + 1) AS __kind
FROM sqlext_step_2;
-- shown
SELECT user_name, total, kind
FROM (
  SELECT
    __k0 AS user_name,
    (CAST(shiftright(shiftleft(__a0, 32), 32) AS INT)) AS total,
    __kind AS kind
  FROM sqlext_step_3
);
