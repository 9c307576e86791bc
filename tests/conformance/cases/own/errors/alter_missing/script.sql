ALTER TABLE nope SET ('a'='b');
