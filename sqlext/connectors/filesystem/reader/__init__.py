"""Read files of a folder by Arrow."""
