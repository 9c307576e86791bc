"""Provide magics for notebooks: ``%load_ext sqlext``, then cells ``%%sqlext``. See ``docs/notebook.md``.

``magics`` are the commands, and ``running`` follows queries while they run. ``views`` and ``charts`` show results. All
of it calls one Session.
"""
