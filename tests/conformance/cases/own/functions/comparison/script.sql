CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING
) WITH (
  'connector'='filesystem',
  'path'='${IN}/strs.json',
  'format'='json'
);
CREATE TABLE snk (
  id INT, c1 BOOLEAN, c2 BOOLEAN, c3 BOOLEAN, c4 BOOLEAN, c5 BOOLEAN, c6 BOOLEAN, c7 BOOLEAN, c8 BOOLEAN, c9 BOOLEAN, c10 BOOLEAN, c11 BOOLEAN, c12 BOOLEAN, c13 BOOLEAN, c14 BOOLEAN, c15 BOOLEAN, c16 BOOLEAN, c17 BOOLEAN, c18 BOOLEAN, c19 BOOLEAN, c20 BOOLEAN, c21 BOOLEAN, c22 BOOLEAN, c23 BOOLEAN, c24 BOOLEAN, c25 BOOLEAN, c26 BOOLEAN, c27 BOOLEAN, c28 BOOLEAN, c29 BOOLEAN, c30 BOOLEAN, c31 BOOLEAN, c32 BOOLEAN, c33 BOOLEAN, c34 BOOLEAN, c35 BOOLEAN, c36 BOOLEAN, c37 BOOLEAN
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  id,
  n = 42,
  n <> 42,
  n < id,
  n >= id,
  s = 'Hello World',
  s > 'a',
  s < u,
  x = n,
  n IS NULL,
  n IS NOT NULL,
  n IS DISTINCT FROM id,
  n IS NOT DISTINCT FROM NULL,
  n BETWEEN 0 AND 100,
  n NOT BETWEEN 0 AND 100,
  n BETWEEN 100 AND 0,
  n BETWEEN SYMMETRIC 100 AND 0,
  n BETWEEN ASYMMETRIC 0 AND 100,
  n IN (42, 0),
  n IN (42, NULL),
  n NOT IN (42, 0),
  n NOT IN (42, NULL),
  s IN ('', 'a,b,,c'),
  b = TRUE,
  b,
  b IS TRUE,
  b IS NOT TRUE,
  b IS FALSE,
  b IS NOT FALSE,
  b IS UNKNOWN,
  b IS NOT UNKNOWN,
  NOT b,
  b AND NOT b,
  ts > TIMESTAMP '2020-01-01 00:00:00',
  ts = '2024-02-29 13:45:59.123',
  CAST(ts AS DATE) = DATE '2024-02-29',
  ROW(n, s) = ROW(42, 'Hello World'),
  s = ''
FROM strs;
