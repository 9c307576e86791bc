-- what: Columns are put in the sink's order and converted to its types.
CREATE TABLE snk (d DATE, n INT, who STRING NOT NULL, note STRING)
PARTITIONED BY (d)
WITH ('connector' = 'filesystem', 'path' = '/out/snk', 'format' = 'parquet');

INSERT INTO snk PARTITION (d = DATE '2024-01-01') (who, n) SELECT user_name, amount FROM clicks;

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- append mode, appended into default_catalog.default_database.snk (filesystem)
SELECT
  DATE '2024-01-01' AS d,
  amount AS n,
  CASE
    WHEN user_name IS NULL THEN CAST(raise_error('[RUN-003] column snk.who is NOT NULL, but the query gave NULL') AS STRING)
    ELSE user_name END AS who,
  CAST(NULL AS STRING) AS note
FROM (
  SELECT clicks.user_name, clicks.amount
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
