"""Queries that are made up, cut, crashed and restarted at random, held against one run over all rows."""
