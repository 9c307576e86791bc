CREATE TABLE a (id INT, k STRING, v INT, w INT) WITH ('connector' = 'filesystem', 'path' = '${IN}/a', 'format' = 'json');
CREATE TABLE b (bid INT, k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '${IN}/b', 'format' = 'json');
CREATE TABLE conjunction (id INT, bid INT) WITH ('connector' = 'filesystem', 'path' = '${OUT}/conjunction', 'format' = 'json');
CREATE TABLE disjunction (id INT, bid INT) WITH ('connector' = 'filesystem', 'path' = '${OUT}/disjunction', 'format' = 'json');
INSERT INTO conjunction
SELECT a.id, b.bid FROM a LEFT JOIN b ON a.k = b.k AND a.v - b.v <> 0 AND a.w / (a.v - b.v) > 1;
INSERT INTO disjunction
SELECT a.id, b.bid FROM a LEFT JOIN b ON a.k = b.k AND (a.v = b.v OR a.w / (a.v - b.v) > 1);
