-- Files: csv, json, parquet and orc, as sources and as sinks. The options are Flink's.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE as_csv (order_id INT, item STRING, amount DECIMAL(8, 2), ts TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = '${OUT}/as_csv', 'format' = 'csv', 'csv.field-delimiter' = ';');

CREATE TABLE as_json WITH (
  'connector' = 'filesystem', 'path' = '${OUT}/as_json', 'format' = 'json',
  'json.timestamp-format.standard' = 'ISO-8601'
) LIKE as_csv (EXCLUDING OPTIONS);

CREATE TABLE as_parquet WITH ('connector' = 'filesystem', 'path' = '${OUT}/as_parquet', 'format' = 'parquet')
LIKE as_csv (EXCLUDING OPTIONS);

CREATE TABLE as_orc WITH ('connector' = 'filesystem', 'path' = '${OUT}/as_orc', 'format' = 'orc')
LIKE as_csv (EXCLUDING OPTIONS);

INSERT INTO as_csv
SELECT order_id, item, CAST(amount AS DECIMAL(8, 2)), ts FROM orders WHERE order_id <= 4;

-- From file to file: each reads what the one before wrote.
INSERT INTO as_json SELECT * FROM as_csv WHERE order_id <= 3;
INSERT INTO as_parquet SELECT * FROM as_json WHERE order_id <= 2;
INSERT INTO as_orc SELECT * FROM as_parquet WHERE order_id <= 1;
