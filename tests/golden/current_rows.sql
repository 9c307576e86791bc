-- what: Records of upsert-kafka become changes of current rows, by an operator that keeps them; GROUP BY takes them back.
CREATE TABLE prices (
  item STRING, price DECIMAL(10, 2), changed TIMESTAMP(3) METADATA FROM 'timestamp' VIRTUAL,
  PRIMARY KEY (item) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'prices', 'properties.bootstrap.servers' = 'b:9092',
  'key.format' = 'raw', 'value.format' = 'json', 'scan.bounded.mode' = 'latest-offset'
);

SELECT price, COUNT(*) AS items FROM prices GROUP BY price;

-- becomes
-- view sqlext_prices: readStream kafka (kafka.bootstrap.servers='b:9092', subscribe='prices', startingOffsets='earliest')
--   columns item STRING, price DECIMAL(10, 2), changed TIMESTAMP_NTZ, __row_kind TINYINT, __position BIGINT
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_1 AS
SELECT item AS c0, price AS c1, changed AS c2, __row_kind AS c3, __position AS c4
FROM sqlext_prices;
-- view sqlext_step_2: stateful function current over sqlext_step_1
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_3 AS
SELECT price AS c0, __row_kind AS c1
FROM (
  SELECT item, price, changed, __row_kind
  FROM sqlext_step_2
) AS prices;
-- view sqlext_step_4: stateful function window over sqlext_step_3
CREATE OR REPLACE TEMPORARY VIEW sqlext_step_5 AS
SELECT __k0, __a0, __row_kind
FROM sqlext_step_4;
-- shown
SELECT price, `items`, __key_0, __exists
FROM (
  SELECT __k0 AS price, __a0 AS `items`, __k0 AS __key_0, __row_kind <> 3 AS __exists
  FROM sqlext_step_5
  WHERE __row_kind <> 1
);
