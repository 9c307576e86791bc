CREATE TABLE ev (k STRING, K INT) WITH ('connector'='filesystem', 'path'='${IN}/a.json', 'format'='json');
CREATE TABLE Ev (k STRING) WITH ('connector'='filesystem', 'path'='${IN}/b.json', 'format'='json');
CREATE TABLE snk (
  k STRING, kk INT, src CHAR(2)
) WITH (
  'connector'='filesystem',
  'path'='${OUT}/snk',
  'format'='json'
);
INSERT INTO snk
SELECT k, K AS kk, 'ev' AS src FROM ev UNION ALL SELECT k, 0, 'Ev' FROM Ev;
