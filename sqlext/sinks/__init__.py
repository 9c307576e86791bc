"""Write the rows of a query, batch by batch."""
