CREATE TABLE `таблица` (`naïve` INT, `日本` STRING) WITH ('connector'='filesystem', 'path'='${IN}/j.json', 'format'='json');
CREATE TABLE snk (
  `é` INT, `x y` STRING
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk SELECT `naïve`, `日本` FROM `таблица`;
