CREATE TABLE t (id INT, k STRING, twice AS id * 2, u AS UPPER(k) COMMENT 'upper', m BIGINT METADATA FROM 'file.size' VIRTUAL, ts STRING, rt AS TO_TIMESTAMP(ts), WATERMARK FOR rt AS rt - INTERVAL '1' MINUTE) COMMENT 'c' WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
DESCRIBE t;
SHOW CREATE TABLE t;
