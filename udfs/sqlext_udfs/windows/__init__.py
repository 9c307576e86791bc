"""Aggregate rows by window, under any policy.

``policy`` says which windows there are, when they fire, and what happens to late rows; ``triggers`` has its trigger.
``operator`` chooses one of three engines. Where several could run they give the same panes:

- ``one_pane``: each key and window gives one pane;
- ``lanes``: the trigger looks at groups alone, so all groups are decided on at once;
- ``groups``: everything else, one group after the other.

``panes`` has what they share: elements, slices, segments, and the table that comes out. The rules M1 to M20 in comments
are those of ``sqlext/dialect/emit/EMIT.md``, section 5.
"""
