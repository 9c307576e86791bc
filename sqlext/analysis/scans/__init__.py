"""Tables of the catalog as relations."""
