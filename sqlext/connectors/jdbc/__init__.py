"""Tables of relational databases, by Flink's option names and URLs of JDBC; Python drivers read and write them."""
