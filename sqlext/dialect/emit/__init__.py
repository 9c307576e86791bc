"""Parse the EMIT clause, which says when a grouping or window gives its results, and which.

Read in this order: ``nodes`` (what comes out); ``clause`` (where it begins and ends); ``triggers`` (operators) and
``primaries`` (what stands between them), ``quantities`` (durations, counts), ``options``, ``aliases`` (spellings of
other systems, read into the same nodes), ``checks`` (what the grammar allows and makes no sense),
``printing`` (back to text, in our own spelling).

clause ::= EMIT [STREAM | CHANGELOG] ([ONCE] trigger | alias | DEFAULT | CONTINUE | option) {option}

Refusals, besides those of sub-expressions:

======== ==============================================================
EMIT-001 EMIT where a clause may stand, without a clause
EMIT-002 something else stands where the clause wants a certain thing
EMIT-003 not a duration, or one without a fixed length
EMIT-004 a duration that is zero or negative
EMIT-005 not a number of rows
EMIT-010 UNTIL after UNTIL
EMIT-011 EARLY or LATE beside an operator, without parentheses
EMIT-012 AFTER DELAY AND AFTER WATERMARK, which other systems read differently
EMIT-013 ALL OF, ANY OF or EACH OF of one trigger
EMIT-014 a watermark's trigger within EARLY or LATE
EMIT-015 EARLY or LATE twice
EMIT-016 not an action of CASE
EMIT-017 ONCE with what never finishes
EMIT-018 two policies for one phase (Blink's spelling)
EMIT-019 an option twice
EMIT-020 RETRACTING with an evictor
EMIT-021 LATE without lateness
EMIT-022 ON WINDOW CLOSE combined with other triggers
EMIT-023 a clause after EMIT
EMIT-024 two EMIT clauses in one SELECT
EMIT-025 EMIT beside a set operation, without parentheses (``queries``)
EMIT-026 SETTINGS
EMIT-027 CHANGELOG without RETRACTING panes
EMIT-028 not a name or value of OPTIONS
EMIT-029 not a value of FILL
======== ==============================================================
"""
