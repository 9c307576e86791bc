-- Variables: ${IN} and ${OUT} come from --define NAME=value (variables={...} in Python); a name nobody defined is an error.
-- They are replaced before anything is read, so they may stand anywhere; messages still show the file's own positions.

CREATE TABLE some_columns_of_orders (order_id INT, item STRING)
WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');

CREATE TABLE selected (order_id INT, item STRING)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/selected', 'format' = 'json');

INSERT INTO selected SELECT order_id, item FROM some_columns_of_orders WHERE order_id <= 2;
