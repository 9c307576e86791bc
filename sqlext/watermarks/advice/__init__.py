"""Say how late rows are: what a delay of the watermark loses, and what it costs. No Spark.

Read in this order: ``arrivals`` (which event times came with which micro-batch), ``assumption`` (how the stream is
declared and read), ``replay`` (how far the watermark was then), ``alignment`` (who had to wait), ``lateness`` (what
each delay would lose and cost), ``delays`` (which delays are worth a look), ``rows`` (the result of ANALYZE WATERMARK),
``seen`` (the same from what queries have counted).
"""
