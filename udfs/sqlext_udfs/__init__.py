"""The semantics of stateful operators, with no Spark import.

To read in this order:

What an operator is: ``operators``; the smallest one is ``distinct``. Below them: ``table_codec`` (state and rows as
bytes), ``arrow_types``, ``arrow_numpy``, ``equality`` (which rows are the same), ``groups``.

What a window operator is to do: ``policy`` (windows, mode, lateness), ``trigger_tree``, ``trigger_rules`` (what follows
from a trigger alone), ``policy_json``, ``window_specification`` (the columns that go in and come out), ``row_kinds``.

Aggregates: ``accumulator`` (what one is), ``accumulators`` (which there are, and what each keeps), the files
``accumulators_*`` by family with ``exact_sums``, ``list_columns`` and ``ranks``; ``aggregation`` (all of a window
together).

``window_operator`` picks one of three engines; where several could run they give the same panes:

=============================== ====================================================================================
one pane per key and window     ``horizon`` (when it is due), ``one_pane_engine`` (the step), ``single_pane`` over
                                ``window_pieces`` and ``slices``, ``single_session`` over ``session_windows``;
                                ``window_columns``, ``bucket_state``
triggers look at groups alone   ``lane_engine``: ``lane_program`` (the trigger), ``lane_nodes``, ``lane_composites``,
                                ``lane_step``, ``lane_firing``, ``lanes``, ``lane_state``
everything else                 ``pane_engine`` aggregates (``segments``, ``pane_state``) what ``window_engine``
                                decides: ``trigger_program`` with the files ``trigger_*``, ``window_plan``,
                                ``window_run`` (the order of a step), ``window_elements``, ``window_assignment``,
                                ``window_sessions``, ``window_firing``, ``window_writing``, ``window_evictors``,
                                ``window_state``
=============================== ====================================================================================

The last two share ``elements`` and ``element_maker`` (rows as elements), ``key_numbers``, ``written_rows``
(retractions); all three ``pane_table`` (the rows that come out). ``latest`` leaves the last pane of a micro-batch.

MATCH_RECOGNIZE: ``match_pattern`` and ``match_expressions`` say what is looked for, ``match_specification`` all of it.
``match_operator`` orders rows (``match_rows``), searches partitions (``match_search``, ``match_run``) and gives out
matches (``match_output``). ``match_program`` is the pattern, ``match_links`` what was taken; ``match_conditions`` and
``match_numbers`` are DEFINE, ``match_reach`` is PREV and NEXT.

Operators over rows that may change: ``zset`` (the net of a micro-batch); ``group_aggregate`` (GROUP BY) with
``group_results`` from ``retractable`` numbers (``exact_doubles``) or ``kept_rows``. Top-N: ``rank_specification``,
``rank_rows``, ``rank_operator`` (at once), ``rank_at_time`` (once: by window, or the first row). Joins:
``join_specification``, ``join_operator`` over ``join_regular``, ``join_interval``, ``join_window`` and
``temporal_join``, each a life of state (``join_life``). OVER: ``over_specification``,
``over_operator``, ``over_lives``.

What users write: ``trigger_hooks``, ``window_evictors``, ``aggregate_hooks``; ``conditions`` is WHEN.
"""
