"""Infer the types of expressions."""
