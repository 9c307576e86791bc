"""Compile and evaluate triggers.

``tree`` is a trigger as values, ``rules`` says what follows from it. ``program`` compiles it to nodes: those of
``nodes``, ``row_nodes``, ``time_nodes``, ``phase_nodes`` and ``composites``. ``moment`` is what nodes see of a step.
``hooks`` is what users write, and ``conditions`` the condition of WHEN.
"""
