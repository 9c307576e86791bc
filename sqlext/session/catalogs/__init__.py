"""Statements on catalogs and databases, and catalogs of lakes that Spark opens."""
