CREATE TABLE e (id INT, v INT, twice AS v * 2, four AS twice * 2) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE snk (
  a STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT id, four FROM e;
