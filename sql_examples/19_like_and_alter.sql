-- LIKE copies a definition, ALTER TABLE changes one. Files that are there stay as they are.
-- Flink 2.3 runs this file unchanged and gives the same rows.

CREATE TABLE orders (
  order_id INT, customer STRING, item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

-- This file alters what it creates: a second run begins again.
DROP TABLE IF EXISTS patient_orders;
DROP TABLE IF EXISTS order_archive;

-- Everything of orders but its watermark, and a longer one in its place.
CREATE TABLE patient_orders (
  WATERMARK FOR ts AS ts - INTERVAL '10' MINUTE
) LIKE orders (EXCLUDING WATERMARKS);

-- Only the columns; the options are its own.
CREATE TABLE archive WITH ('connector' = 'filesystem', 'path' = '${OUT}/archive', 'format' = 'csv')
LIKE orders (EXCLUDING ALL);

ALTER TABLE patient_orders ADD (gross AS amount * 1.5);
ALTER TABLE patient_orders RENAME customer TO who;
ALTER TABLE patient_orders MODIFY (WATERMARK FOR ts AS ts - INTERVAL '1' HOUR);
ALTER TABLE patient_orders SET ('json.ignore-parse-errors' = 'true');
ALTER TABLE archive DROP (amount);
ALTER TABLE archive RENAME TO order_archive;

DESCRIBE patient_orders;

INSERT INTO order_archive SELECT order_id, customer, item, ts FROM orders WHERE order_id > 9;
