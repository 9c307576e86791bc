-- what: A GROUP BY without a window, merged by key.
CREATE TABLE totals (
  user_name STRING, n BIGINT, PRIMARY KEY (user_name) NOT ENFORCED
) WITH ('connector' = 'delta', 'path' = '/out/totals');

INSERT INTO totals SELECT user_name, COUNT(*) FROM clicks GROUP BY user_name HAVING COUNT(*) > 1;

SELECT COUNT(*) AS n, MAX(amount) AS most FROM clicks;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- update mode, merged by key into default_catalog.default_database.totals (delta)
SELECT
  CASE
    WHEN user_name IS NULL THEN CAST(raise_error('[RUN-003] column totals.user_name is NOT NULL, but the query gave NULL') AS STRING)
    ELSE user_name END AS user_name,
  `EXPR$1` AS n,
  __key_0,
  __exists
FROM (
  SELECT user_name, COUNT(*) AS `EXPR$1`, user_name AS __key_0, COUNT(*) > 1 AS __exists
  FROM (
    SELECT
      user_name,
      amount,
      CASE
        WHEN ts IS NULL THEN CAST(raise_error('[RUN-001] rowtime clicks.ts is NULL') AS TIMESTAMP)
        ELSE ts END AS ts
    FROM sqlext_clicks
  ) AS clicks
  GROUP BY user_name
);

-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- shown
SELECT n, most, __key_all, __exists
FROM (
  SELECT COUNT(*) AS n, MAX(amount) AS most, 0 AS __key_all, count(1) > 0 AND (true) AS __exists
  FROM (
    SELECT
      user_name,
      amount,
      CASE
        WHEN ts IS NULL THEN CAST(raise_error('[RUN-001] rowtime clicks.ts is NULL') AS TIMESTAMP)
        ELSE ts END AS ts
    FROM sqlext_clicks
  ) AS clicks
);
