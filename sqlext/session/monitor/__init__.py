"""Say how queries go, of this process and of others, as plain values: what the page and its JSON show.

``views`` are these values. ``sources`` finds the queries and what they keep. ``graph``, ``windows`` and ``series`` make
views of it, and ``api`` answers. Nothing here starts Spark, and nothing asks a running query for more than it keeps.
"""
