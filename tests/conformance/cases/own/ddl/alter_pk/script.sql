CREATE TABLE e (id INT NOT NULL, k STRING, v INT, ts TIMESTAMP(3)) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
ALTER TABLE e ADD PRIMARY KEY (id) NOT ENFORCED;
ALTER TABLE e DROP PRIMARY KEY;
CREATE TABLE snk (
  id INT
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id FROM e WHERE id < 3;
