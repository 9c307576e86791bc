-- what: A LATERAL query is taken apart: its FROM is joined, its WHERE and its columns are computed beside the row.
SELECT c.user_name, l.country, l.n
FROM clicks AS c, LATERAL (SELECT country, amount + x FROM UNNEST(ARRAY[1, amount]) AS u (x)
  JOIN users ON x > 1 WHERE name = user_name) AS l (country, n);

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_users: read csv /in/users (mode='FAILFAST', sep=',', quote='"', escape='"', recursiveFileLookup='true')
--   columns name STRING, country STRING
-- shown
SELECT user_name, country, n
FROM (
  SELECT __l0.user_name, __l0.country, __l0.`EXPR$4` AS n
  FROM (
    SELECT
      c.user_name,
      c.amount,
      c.ts,
      users.country,
      CAST(shiftright(shiftleft(CAST(amount AS BIGINT) + x, 32), 32) AS INT) AS `EXPR$4`
    FROM (
      (
        SELECT
          user_name,
          amount,
          CASE
            WHEN ts IS NULL THEN CAST(raise_error('[RUN-001] rowtime clicks.ts is NULL') AS TIMESTAMP)
            ELSE ts END AS ts
        FROM sqlext_clicks
      ) AS c
      CROSS JOIN LATERAL explode(array(1, amount)) AS u(`x`)
    )
    INNER JOIN sqlext_users AS users ON x > 1
    WHERE name = user_name
  ) AS __l0
);
