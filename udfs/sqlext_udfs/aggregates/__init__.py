"""Aggregate by group: accumulators whose partial results can be joined.

``accumulator`` defines one, ``known`` lists all with what each keeps, ``aggregation`` puts several side by side.
``hooks`` is what users write.
"""
