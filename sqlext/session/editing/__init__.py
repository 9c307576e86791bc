"""Answer an editor about whole documents: what is wrong, what a word means, where it is defined. Starts no Spark."""
