-- Any data source of Spark is a table by 'connector' = 'spark'; options that are not ours are passed on to it.

CREATE TABLE spark_items (item STRING, category STRING, unit_cost DOUBLE)
WITH ('connector' = 'spark', 'format' = 'csv', 'path' = '${IN}/items', 'sep' = ';');

CREATE TABLE lines (`value` STRING)
WITH ('connector' = 'spark', 'format' = 'text', 'path' = '${OUT}/lines');

INSERT INTO lines SELECT CONCAT(UPPER(item), ' costs ', CAST(unit_cost AS STRING)) FROM spark_items;

-- Statements of Spark's own go to Spark as they are.
SELECT explode(sequence(1, 3)) AS n;
