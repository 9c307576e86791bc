"""Give one pane for each key and window: ``pieces`` for fixed windows, ``sessions`` for sessions."""
