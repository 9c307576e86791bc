"""The worked examples of the documents that the project started from, one file per document."""
