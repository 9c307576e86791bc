"""Read topics by a client of our own."""
