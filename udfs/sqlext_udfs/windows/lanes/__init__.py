"""Decide on all groups at once, as columns, where a trigger looks at groups and not at single rows.

``program`` compiles the trigger and ``engine`` runs a step. ``step`` finds the groups that are touched, ``firing``
makes their panes, ``state`` keeps groups. ``nodes`` and ``composites`` mirror those of ``triggers``.
"""
