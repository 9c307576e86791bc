"""Tables of Iceberg and Paimon, in catalogs that Spark opens."""
