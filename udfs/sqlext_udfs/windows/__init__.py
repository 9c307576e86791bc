"""Aggregate rows by window, under any policy.

``policy`` says which windows, when they fire and what happens to late rows; ``triggers`` has its trigger.
``operator`` picks one of three engines. Where several could run they give the same panes:

- ``one_pane``: each key and window gives one pane;
- ``lanes``: the trigger looks at groups alone, all groups are decided at once;
- ``groups``: everything else, one group after the other.

``panes`` has what they share: elements, slices, segments, and the table that comes out.
"""
