"""The EMIT clause: when the panes of a grouping come out."""
