CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 STRING, c2 STRING, c3 STRING, c4 STRING, c5 STRING, c6 STRING, c7 STRING, c8 STRING, c9 STRING, c10 STRING, c11 STRING, c12 STRING, c13 STRING, c14 STRING, c15 STRING, c16 STRING, c17 STRING, c18 STRING, c19 STRING, c20 STRING, c21 STRING, c22 STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  DATE_FORMAT(ts, 'yyyy-MM-dd'),
  DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss'),
  DATE_FORMAT(ts, 'yyyyMMdd'),
  DATE_FORMAT(ts, 'HH-mm'),
  DATE_FORMAT(ts, 'HH:mm:ss.SSS'),
  DATE_FORMAT(ts, 'yy/M/d H:m:s'),
  DATE_FORMAT(ts, 'MMM dd, yyyy'),
  DATE_FORMAT(ts, 'MMMM'),
  DATE_FORMAT(ts, 'E'),
  DATE_FORMAT(ts, 'EEEE'),
  DATE_FORMAT(ts, 'D'),
  DATE_FORMAT(ts, 'hh:mm a'),
  DATE_FORMAT(ts, 'SSSSSS'),
  DATE_FORMAT(ts, 'yyyy-MM-dd''T''HH:mm:ss'),
  DATE_FORMAT('2024-01-02 03:04:05', 'yyyy/MM/dd'),
  DATE_FORMAT(CAST(ts AS STRING), 'yyyyMMdd'),
  DATE_FORMAT(ts, 'Q'),
  DATE_FORMAT(ts, 'w'),
  DATE_FORMAT(ts, 'u'),
  DATE_FORMAT(ts, 'kk'),
  DATE_FORMAT(ts, 'YYYY'),
  DATE_FORMAT('garbage', 'yyyy')
FROM strs;
