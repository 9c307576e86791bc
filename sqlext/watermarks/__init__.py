"""Keep the event time of a query: which inputs move its watermark, which are idle, which run ahead. No Spark.

Read in this order: ``ends`` (when windows end), ``inputs`` (what is declared of an input, what is known of it),
``keeper`` (what follows from both: heartbeats and splits to hold back), ``report`` (the same for people), ``why`` (in
words), ``history`` (how it went), ``charts`` and ``page`` (as a picture). ``advice`` says how late rows are.
"""
