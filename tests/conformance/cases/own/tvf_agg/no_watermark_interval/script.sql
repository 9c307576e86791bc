SET 'pipeline.auto-watermark-interval' = '0';
CREATE TABLE ev (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector'='filesystem', 'path'='${IN}/ev.json', 'format'='json');
CREATE TABLE s (ws TIMESTAMP(3), n BIGINT) WITH ('connector'='filesystem', 'path'='${OUT}/s', 'format'='json');
INSERT INTO s SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '3' SECOND)) GROUP BY window_start, window_end;
