"""The rows of faker tables."""
