-- Rows that cannot be decoded: by default one of them fails the query, as in Flink. 'sqlext.bad-rows' = 'drop' counts them
-- in its progress; the name of a table keeps them there, exactly once, with what is wrong and where it stands.

CREATE TABLE thermometers (
  sensor STRING, temperature DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/readings', 'format' = 'json', 'sqlext.bad-rows' = 'unreadable');

-- Its columns are some of these, by name.
CREATE TABLE unreadable (text STRING, source STRING, place STRING, reason STRING, read_at TIMESTAMP_LTZ(3))
WITH ('connector' = 'delta', 'path' = '${OUT}/unreadable');

CREATE TABLE highest_per_minute (sensor STRING, `minute` TIMESTAMP(3), highest DOUBLE)
WITH ('connector' = 'delta', 'path' = '${OUT}/highest_per_minute');

INSERT INTO highest_per_minute
SELECT sensor, window_start, MAX(temperature)
FROM TABLE(TUMBLE(TABLE thermometers, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY sensor, window_start, window_end;

-- The place is the file and the line; of Kafka it is topic, partition and offset.
SELECT substring_index(place, '/', -1) AS place, reason, text FROM unreadable;
