-- OPTIONS hints change a table's options for one use of it; the catalog keeps what it has.
-- Flink 2.3 runs this file unchanged and gives the same rows.

CREATE TABLE items_read_wrongly (item STRING, category STRING, unit_cost DOUBLE)
WITH ('connector' = 'filesystem', 'path' = '${IN}/items', 'format' = 'csv', 'csv.field-delimiter' = '|');

SELECT item, unit_cost FROM items_read_wrongly /*+ OPTIONS('csv.field-delimiter' = ';') */;

CREATE TABLE copies (item STRING, unit_cost DOUBLE)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/copies', 'format' = 'json');

INSERT INTO copies /*+ OPTIONS('sink.parallelism' = '1') */
SELECT item, unit_cost * 2 FROM items_read_wrongly /*+ OPTIONS('csv.field-delimiter' = ';') */;
