"""Provide the command line, a thin face of one Session.

``main`` has the commands, ``run`` and ``shell`` run scripts and statements. ``formats``, ``tables``, ``progress`` and
``messages`` print.
"""
