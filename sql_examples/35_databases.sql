-- Databases keep names apart; INSERT ... VALUES fills a table by hand.
-- Flink 2.3 runs this file unchanged and gives the same rows.

CREATE DATABASE shop;
USE shop;

CREATE TABLE colours (name STRING, wavelength INT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/colours', 'format' = 'json');

-- From outside by its full name.
USE default_database;

INSERT INTO shop.colours VALUES ('red', 700), ('green', 530);
INSERT INTO shop.colours (name) VALUES ('black');

SELECT name, wavelength FROM shop.colours WHERE wavelength > 600;

SHOW TABLES FROM shop;
