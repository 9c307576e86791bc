CREATE TABLE e (k STRING WITH ('connector'='filesystem');
