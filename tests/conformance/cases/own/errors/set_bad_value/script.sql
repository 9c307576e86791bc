SET 'table.local-time-zone' = 'Mars/Phobos';
CREATE TABLE e (k STRING) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE snk (a STRING) WITH ('connector'='blackhole');
INSERT INTO snk SELECT CAST(TO_TIMESTAMP_LTZ(0, 3) AS STRING) FROM e;
