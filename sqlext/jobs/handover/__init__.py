"""Let a query go on from its checkpoint by another reader of its tables: the place of each source is written anew."""
