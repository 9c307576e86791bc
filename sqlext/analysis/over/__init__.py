"""Functions OVER a window of rows."""
