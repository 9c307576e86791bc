"""Ranks: Top-N, deduplication, and running numbers."""
