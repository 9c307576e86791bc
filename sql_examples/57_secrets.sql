-- A password in WITH is used by this session. It is not stored, and nothing shows it.

-- This file alters what it creates: a second run begins again.
DROP TABLE IF EXISTS accounts;

CREATE TABLE accounts (name STRING, city STRING, PRIMARY KEY (name) NOT ENFORCED)
WITH (
  'connector' = 'jdbc', 'url' = 'jdbc:postgresql://db:5432/shop?sslpassword=swordfish', 'table-name' = 'customers',
  'username' = 'app', 'password' = 'hunter2'
);

-- A part of a URL is known by its form.
SHOW CREATE TABLE accounts;

-- A reference is stored. It is read when a query starts.
ALTER TABLE accounts SET ('password' = 'env:SHOP_PASSWORD');

SELECT option_name, option_value FROM information_schema.options WHERE table_name = 'accounts';
