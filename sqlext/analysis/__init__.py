"""Statements to plans: bind names, follow time attributes and changes, refuse misuse with a position.

Each room imports only from itself and from rooms above it in this list:

types, functions   types of expressions; the functions that SQL knows
names              catalog, settings and registered aggregates, as names find them
relations          what all features do with a relation; ``Binding``, by which they bind what stands inside a clause
windows            window functions and group windows
grouping           GROUP BY, and set operations, which group by all columns
emit               the EMIT clause
expressions        expressions that operators evaluate
over               functions OVER a window of rows
ranking            Top-N and deduplication
matching           MATCH_RECOGNIZE
scans              tables of the catalog as relations
joins              joins, and sub-queries that become joins
unnest             UNNEST, table functions and LATERAL
selects            SELECT, FROM, set operations and ORDER BY: the binder of whole queries
inserts            INSERT, and the fingerprint of a query
definitions        CREATE, ALTER and SHOW CREATE
"""
