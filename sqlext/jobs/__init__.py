"""Run queries as jobs. A job is one query into one sink or several, with its place, progress and clock.

``runner`` starts and follows the Spark queries of a job's ``parts``. ``checkpoint`` keeps a query's place, and
``renewal`` gives it a new one. ``batches`` hands micro-batches to sinks. ``progress`` counts, ``recording`` keeps
how it went; ``timekeeping`` moves watermarks.
"""
