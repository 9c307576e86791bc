"""Give out the windows that got no row: FILL.

``operator`` wraps the operator of windows, ``grid`` says which windows follow each other, ``wall_clock`` when a zone's
clock shows their bounds. A key is filled for a time after each of its windows with rows. So what comes out depends on
the windows with rows alone, and not on how they are cut into micro-batches. ``table_keys`` fills each key of a table.
``rows`` makes what comes out.
"""
