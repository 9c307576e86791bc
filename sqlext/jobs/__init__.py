"""Run queries: a job is one query into one sink or several, with its place, its progress and its clock.

``job`` starts and follows Spark's queries. ``checkpoint`` keeps a query's place and ``renewal`` gives it a new one.
``batches`` hands micro-batches to sinks. ``progress`` and ``moments`` count, ``timekeeping`` moves watermarks.
"""
