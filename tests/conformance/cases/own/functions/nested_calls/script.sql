CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, a STRING, b DOUBLE, c STRING, d STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, UPPER(SUBSTRING(REPLACE(TRIM(COALESCE(s, 'nil')), 'l', CONCAT('[', CAST(id AS STRING), ']')), 2, 8)) AS a, ROUND(SQRT(ABS(COALESCE(x, -16))) * POWER(2, 3), 3) AS b, DATE_FORMAT(TIMESTAMPADD(DAY, -id, FLOOR(ts TO MONTH)), 'yyyy-MM-dd') AS c, CASE WHEN s IS NULL THEN 'n' WHEN CHAR_LENGTH(s) = 0 THEN 'e' ELSE SPLIT_INDEX(s, ' ', CHAR_LENGTH(s) - CHAR_LENGTH(s)) END AS d FROM strs;
