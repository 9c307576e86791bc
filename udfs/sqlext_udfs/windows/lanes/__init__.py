"""Decide on all groups at once, as columns, where a trigger looks at groups and not at single rows.

``program`` compiles the trigger, ``engine`` runs a step; ``nodes`` and ``composites`` mirror those of ``triggers``.
"""
