"""Plans to Spark SQL: rules over the tree, then text; runs nothing."""
