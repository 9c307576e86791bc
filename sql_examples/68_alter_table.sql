-- ALTER TABLE reaches the Delta table behind: rows that are there keep their values, and are not written again.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE altered_sales (item STRING, pieces INT, note STRING)
WITH ('connector' = 'delta', 'path' = '${OUT}/altered_sales');

INSERT INTO altered_sales SELECT item, CAST(amount AS INT), customer FROM orders WHERE order_id <= 4;

ALTER TABLE altered_sales RENAME item TO product;
ALTER TABLE altered_sales DROP note;
-- A wider type: integers, FLOAT to DOUBLE, DECIMAL.
ALTER TABLE altered_sales MODIFY pieces BIGINT;
ALTER TABLE altered_sales ADD sold_on DATE;

INSERT INTO altered_sales VALUES ('pen', 3000000000, DATE '2024-03-02');

SELECT product, pieces, sold_on FROM altered_sales WHERE product = 'pen';
