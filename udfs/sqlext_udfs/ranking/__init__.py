"""Rank rows: Top-N and deduplication.

``operator`` gives results at once, and takes back what later rows push out. ``at_time`` gives each result once, by
watermark.
"""
