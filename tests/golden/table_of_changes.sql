-- what: Messages of Debezium are taken apart; a GROUP BY that is written as such messages takes back what it gave.
CREATE TABLE changes (id INT, who STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '/in/changes', 'format' = 'debezium-json');
CREATE TABLE counts (who STRING, n BIGINT)
WITH ('connector' = 'filesystem', 'path' = '/out/counts', 'format' = 'debezium-json');

INSERT INTO counts SELECT who, COUNT(*) FROM changes GROUP BY who;

INSERT INTO counts SELECT user_name, COUNT(*) FROM clicks GROUP BY user_name;

-- becomes
-- view sqlext_changes: readStream text /in/changes (recursiveFileLookup='true', maxFileAge='36500d')
--   columns id INT, who STRING, ts TIMESTAMP, __row_kind TINYINT
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT who AS c0, __row_kind AS c1
FROM (
  SELECT
    id,
    who,
    CASE
      WHEN ts IS NULL THEN CAST(raise_error('[RUN-001] rowtime changes.ts is NULL') AS TIMESTAMP)
      ELSE ts END AS ts,
    __row_kind
  FROM sqlext_changes
) AS `changes`;
-- view sqlext_step_2: stateful function window over sqlext_step_1
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_3 AS
SELECT __k0, __a0, __row_kind
FROM sqlext_step_2;
-- append mode, appended into default_catalog.default_database.counts (filesystem)
SELECT who, `EXPR$1` AS n, __row_kind
FROM (
  SELECT __k0 AS who, __a0 AS `EXPR$1`, __k0 AS __key_0, __row_kind
  FROM sqlext_step_3
);

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
-- append mode, appended into default_catalog.default_database.counts (filesystem)
SELECT user_name AS who, `EXPR$1` AS n, __row_kind
FROM (
  SELECT __k0 AS user_name, __a0 AS `EXPR$1`, __k0 AS __key_0, __row_kind
  FROM sqlext_step_3
);
