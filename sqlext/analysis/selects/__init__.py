"""SELECT, FROM and whole queries."""
