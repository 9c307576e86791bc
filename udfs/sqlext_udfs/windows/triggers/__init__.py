"""Compile and evaluate triggers.

``tree`` is a trigger as values, ``rules`` says what follows from it, ``program`` compiles it to the nodes of ``nodes``,
``row_nodes``, ``time_nodes``, ``phase_nodes`` and ``composites``. ``hooks`` is what users write.
"""
