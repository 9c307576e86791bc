-- what: MATCH_RECOGNIZE: single rows are Spark's before the operator, measures are Spark's above it; two variables with one aggregate.
SELECT * FROM clicks MATCH_RECOGNIZE (
  PARTITION BY user_name
  ORDER BY ts, amount DESC NULLS LAST
  MEASURES A.amount * 2 AS twice, LAST(B.amount + 1, 1) AS before, AVG(A.amount) + AVG(B.amount) AS mean,
    COUNT(*) AS n, MATCH_ROWTIME() AS mt
  AFTER MATCH SKIP TO LAST B
  PATTERN (A B{2} C?) WITHIN INTERVAL '1' MINUTE
  DEFINE B AS UPPER(user_name) = 'ANN' AND B.amount > 1, C AS C.amount > COALESCE(B.amount, A.amount) AND C.amount < 9
);

-- becomes
-- view sqlext_clicks: readStream json /in/clicks (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns user_name STRING, amount INT, ts TIMESTAMP
-- view sqlext_heartbeat: streaming text file, the row that ends the bounded input
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT
  clicks.user_name AS c0,
  UPPER(clicks.user_name) = 'ANN' AND clicks.amount > 1 AS c1,
  clicks.amount AS c2,
  clicks.amount < 9 AS c3,
  CAST(shiftright(shiftleft(CAST(clicks.amount AS BIGINT) + 1, 32), 32) AS INT) AS c4,
  clicks.ts AS c5,
  unix_millis(clicks.ts) AS c6
FROM (
  SELECT user_name, amount, ts
  FROM (
    SELECT *, spark_partition_id() >= 0 AS __seen
    FROM (
      SELECT
        user_name,
        amount,
        CASE
          WHEN ts IS NULL THEN CAST(raise_error('[RUN-001] rowtime clicks.ts is NULL') AS TIMESTAMP)
          WHEN ts < TIMESTAMP '1970-01-01 00:00:00Z' THEN CAST(raise_error('[RUN-002] rowtime clicks.ts lies before 1970, where Spark\'s watermark begins') AS TIMESTAMP)
          ELSE ts END AS ts,
        CAST(NULL AS STRING) AS __heartbeat
      FROM sqlext_clicks
      UNION ALL
      SELECT NULL, NULL, CAST(value AS TIMESTAMP), value
      FROM sqlext_heartbeat
    ) WATERMARK ts DELAY OF INTERVAL '5' SECOND
  )
  WHERE __seen AND __heartbeat IS NULL
) AS clicks;
-- view sqlext_step_2: stateful function match over sqlext_step_1
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_3 AS
SELECT
  __k0,
  __m0,
  __m1,
  __match_time,
  (CAST(__a0 DIV __a1 AS INT)) AS __t0,
  (CAST(__a2 DIV __a3 AS INT)) AS __t1,
  __a4 AS __t2
FROM sqlext_step_2;
-- view sqlext_step_4: sqlext_step_3 with column __match_time marked as event time
-- shown
SELECT user_name, twice, before, mean, n, CAST(mt AS TIMESTAMP_NTZ) AS mt
FROM (
  SELECT __q0.user_name, __q0.twice, __q0.before, __q0.mean, __q0.n, __q0.mt
  FROM (
    SELECT
      __match.__k0 AS user_name,
      CAST(shiftright(shiftleft(CAST(__match.__m0 AS BIGINT) * 2, 32), 32) AS INT) AS twice,
      __match.__m1 AS before,
      CAST(shiftright(shiftleft(CAST(__match.__t0 AS BIGINT) + __match.__t1, 32), 32) AS INT) AS mean,
      __match.__t2 AS n,
      __match.__match_time AS mt
    FROM sqlext_step_4 AS __match
  ) AS __q0
);
