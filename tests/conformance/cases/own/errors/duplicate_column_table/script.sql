CREATE TABLE e (a INT, a STRING) WITH ('connector'='filesystem','path'='${IN}','format'='json');
