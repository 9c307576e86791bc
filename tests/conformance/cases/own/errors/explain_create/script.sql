EXPLAIN CREATE TABLE z (a INT) WITH ('connector'='blackhole');
