"""Joins whose right side is made from each row of the left one."""
