-- what: Names that need quotes keep them, others have none.
CREATE TABLE `odd names` (
  `select` INT, `a``b` STRING, plain INT, `Ünï` INT
) WITH ('connector' = 'filesystem', 'path' = '/in/odd', 'format' = 'json');

SELECT `select` + 1 AS `from`, `a``b`, plain AS Plain, `Ünï` FROM `odd names` AS o WHERE o.plain > 0;

-- becomes
-- view sqlext_odd_names: readStream json /in/odd (mode='FAILFAST', timeZone='UTC', recursiveFileLookup='true', maxFileAge='36500d')
--   columns select INT, a`b STRING, plain INT, Ünï INT
-- shown
SELECT `from`, `a``b`, Plain, `Ünï`
FROM (
  SELECT
    CAST(shiftright(shiftleft(CAST(`select` AS BIGINT) + 1, 32), 32) AS INT) AS `from`,
    o.`a``b`,
    o.plain AS Plain,
    o.`Ünï`
  FROM sqlext_odd_names AS o
  WHERE o.plain > 0
);
