"""Parse expressions: ``operations`` climbs precedences over the ``operands`` between them."""
