"""Aggregate rows by group, with partial results that can be joined.

``accumulator`` defines an accumulator, ``known`` lists all with what each keeps. ``aggregation`` runs several side by
side. ``hooks`` is what users write.
"""
