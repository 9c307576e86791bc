"""Read the files of a Delta table by Arrow."""
