"""Run statements in a session: the one object that every face calls.

``api`` is the Session. ``interpreter`` runs one statement after the other, and ``executor`` runs those that read data.
``introspection`` has SHOW, DESCRIBE and EXPLAIN. ``monitor`` says how queries go. ``offline`` needs no JVM: check,
rewrite, completion.
"""
