CREATE TABLE users (
  uid INT, name STRING, tags ARRAY<STRING>, props MAP<STRING, STRING>, addr ROW<city STRING, zip STRING>, items ARRAY<ROW<sku STRING, qty INT>>
) WITH (
  'connector'='filesystem',
  'path'='${IN}/users.json',
  'format'='json'
);
CREATE TABLE snk (
  a STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk SELECT addr.street FROM users;
