CREATE TABLE e (id INT, k STRING, v INT, ts TIMESTAMP(3)) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
ALTER TABLE e DROP nope;
