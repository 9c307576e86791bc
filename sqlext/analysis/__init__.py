"""Statements to plans: names are bound, time attributes and changes followed, misuse refused with a position."""
