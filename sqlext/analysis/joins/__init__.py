"""Joins, and sub-queries that become joins."""
