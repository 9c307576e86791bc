"""The face for notebooks: ``%load_ext sqlext``, then cells ``%%sqlext``. See ``docs/notebook.md``.

``magics`` are the commands, ``running`` follows queries while they run, ``views`` and ``charts`` are what is seen. All
of it calls one Session.
"""
