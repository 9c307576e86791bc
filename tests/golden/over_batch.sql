-- what: batch mode leaves OVER to Spark; a window that has a name is written out, as a sub-query may stand around it.
SET 'execution.runtime-mode' = 'batch';
SELECT user_name, SUM(amount) OVER (w ROWS 2 PRECEDING) AS three, LEAD(amount) OVER w AS following
FROM clicks
WINDOW w AS (PARTITION BY UPPER(user_name) ORDER BY ts DESC)
QUALIFY COUNT(*) OVER w > 1;
SELECT LAST_VALUE(amount) OVER w AS amount FROM clicks WINDOW w AS (PARTITION BY user_name ORDER BY amount);

-- becomes
-- view sqlext_clicks: read json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- shown
SELECT user_name, three, `following`
FROM (
  SELECT __in.user_name, __in.__over_0 AS three, __in.__over_1 AS `following`
  FROM (
    SELECT
      __in.user_name,
      __in.amount,
      __in.ts,
      CAST(shiftright(shiftleft(sum(amount) OVER (PARTITION BY UPPER(user_name) ORDER BY CAST(__in.ts AS TIMESTAMP_NTZ) DESC ROWS 2 PRECEDING), 32), 32) AS INT) AS __over_0,
      LEAD(amount) OVER (PARTITION BY UPPER(user_name) ORDER BY CAST(__in.ts AS TIMESTAMP_NTZ) DESC) AS __over_1,
      COUNT(*) OVER (PARTITION BY UPPER(user_name) ORDER BY CAST(__in.ts AS TIMESTAMP_NTZ) DESC) AS __over_2
    FROM (
      SELECT clicks.user_name, clicks.amount, clicks.ts
      FROM sqlext_clicks AS clicks
    ) AS __in
  ) AS __in
  WHERE __in.__over_2 > 1
);

-- view sqlext_clicks: read json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- shown
SELECT amount
FROM (
  SELECT last_value(amount, true) OVER (PARTITION BY user_name ORDER BY amount) AS amount
  FROM sqlext_clicks AS clicks
);
