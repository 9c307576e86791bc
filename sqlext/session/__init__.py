"""Hold the one object that every face calls: a Session reads scripts and runs their statements.

``main`` is the Session, ``interpreter`` takes one statement after the other, ``executor`` runs those that read data.
``answers`` has SHOW, DESCRIBE and EXPLAIN. ``offline`` has what needs no JVM: check, rewrite, completion.
"""
