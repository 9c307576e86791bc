"""The Nexmark queries of sql_examples/nexmark against the same questions asked of batch Spark SQL."""
