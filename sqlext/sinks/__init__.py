"""Write the rows of a query, batch by batch.

``base`` defines a sink, ``opening`` makes the one of a table, and ``sides`` adds those of late and bad rows.
"""
