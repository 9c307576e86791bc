"""Groupings: GROUP BY, and operations on whole rows."""
