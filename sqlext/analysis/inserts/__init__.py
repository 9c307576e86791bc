"""INSERT: bind it to its sink, and tell whether a query can go on from a checkpoint."""
