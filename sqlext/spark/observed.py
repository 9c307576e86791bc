"""Name the observations of a query's DataFrames, and their columns in Spark's progress."""

from __future__ import annotations

#: Counts the rows given to the sink.
ROWS_OUT = "sqlext_rows_out"
#: Prefix; an input's name follows. Has the largest time (ms) and the rows of a micro-batch of that input.
INPUT = "sqlext input "
#: Columns of ``INPUT``. Behind a blank follows the name of a split, where splits have a time of their own.
LARGEST, ROWS, SMALLEST = "largest", "n", "smallest"
#: Columns of ``INPUT`` of a packed source, which has no others: what each slice held, as texts (``sources.times``).
SLICES = "slices"
#: And how many packed rows there were. A list of its splits as JSON follows: one that gave nothing is in no text. It is
#: empty where they have no time of their own.
PACKED_OF = "packed of "
#: Prefix; a source view's name follows. Counts the packed rows of Arrow's sources, and the rows inside of them; where
#: these are an ``INPUT``, that has both.
READ_BY_US = "sqlext read "
#: Prefix; a source view's name follows. Counts rows that could not be decoded, and rows read again to keep these.
JUDGED = "sqlext judged "
BAD_ROWS, AGAIN = "bad", "again"
