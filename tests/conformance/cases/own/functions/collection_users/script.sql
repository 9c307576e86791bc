CREATE TABLE users (
  uid INT, name STRING, tags ARRAY<STRING>, props MAP<STRING, STRING>, addr ROW<city STRING, zip STRING>, items ARRAY<ROW<sku STRING, qty INT>>
) WITH (
  'connector'='filesystem',
  'path'='${IN}/users.json',
  'format'='json'
);
CREATE TABLE snk (
  uid INT, c1 STRING, c2 STRING, c3 INT, c4 STRING, c5 STRING, c6 STRING, c7 STRING, c8 STRING, c9 INT, c10 INT, c11 BOOLEAN, c12 STRING, c13 ARRAY<STRING>, c14 BOOLEAN, c15 BOOLEAN, c16 STRING, c17 INT, c18 STRING, c19 ARRAY<STRING>, c20 MAP<CHAR(1) NOT NULL, STRING>, c21 ROW<EXPR$0 INT, EXPR$1 STRING>, c22 ARRAY<STRING>
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT
  uid,
  tags[1],
  tags[2],
  CARDINALITY(tags),
  props['a'],
  props['zz'],
  addr.city,
  addr.zip,
  items[1].sku,
  items[1].qty,
  CARDINALITY(items),
  ARRAY_CONTAINS(tags, 'x'),
  ARRAY_JOIN(tags, ','),
  ARRAY_DISTINCT(tags),
  tags IS NULL,
  addr IS NULL,
  COALESCE(addr.city, 'none'),
  CARDINALITY(props),
  UPPER(addr.city) || '-' || addr.zip,
  ARRAY[addr.city, name],
  MAP['n', name, 'c', addr.city],
  ROW(uid, addr.city),
  ARRAY_CONCAT(tags, ARRAY['new'])
FROM users;
