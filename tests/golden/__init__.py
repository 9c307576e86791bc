"""Golden tests: the SQL that scripts become. ``REWRITE=1 pytest tests/golden`` writes the files anew."""
