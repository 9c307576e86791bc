"""Which text of which function is the defence against a fault, and which test must miss it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cut:
    """A defence that is taken out.

    Attributes:
        fault: its number in the page of faults.
        test: that must fail then: its file and its name.
        of: the function, as ``module:name``.
        old: a text of it; new: what stands there instead.
        only: a part of the names of the cases that are tried; all of them where it is empty.
    """

    fault: int
    test: str
    of: str
    old: str
    new: str
    only: str = ""


_HOME = "sqlext.jobs.checkpoint:QueryHome"
CUTS = (
    Cut(
        1,
        "tests/faults/test_killed.py::test_unbounded_killed_and_restarted",
        f"{_HOME}.repeats_a_batch",
        "return begun > self.last_batch()",
        "return False",
    ),
    Cut(
        2,
        "tests/faults/test_failures.py::test_failing_sink_is_named_and_its_batch_comes_once",
        "sqlext.connectors.delta.sink.tables:DeltaSink.write",
        "not self._history().has(df.sparkSession, batch_id)",
        "True",
    ),
    Cut(
        3,
        "tests/faults/test_late_killed.py::test_killed_and_restarted",
        "sqlext.sinks.sides:Side.write",
        "if not rows.isEmpty():",
        "if new and not rows.isEmpty():",
        "delta' between-sinks:4",
    ),
    Cut(
        4,
        "tests/restore/test_checkpoints.py::test_other_shuffle_partitions",
        f"{_HOME}.begin",
        "undo(self.location, digest(run.fingerprint))",
        "__import__('tests.defences.partitions', fromlist=['x']).forget(self.location)",
        "5",
    ),
    Cut(
        5,
        "tests/restore/test_checkpoints.py::test_checkpoint_gone",
        f"{_HOME}.check",
        "raise self.gone()",
        "return leaves",
    ),
    Cut(
        6,
        "tests/restore/test_checkpoints.py::test_checkpoint_of_another_query",
        f"{_HOME}.check",
        "raise self._of_something_else(previous, mark)",
        "return leaves",
    ),
    Cut(
        7,
        "tests/restore/test_checkpoints.py::test_changed_query",
        f"{_HOME}._compare",
        "if changed and not (leaves_state and carried):",
        "if False:",
    ),
    Cut(
        8,
        "tests/restore/test_fingerprint.py::test_a_change_is_named",
        "sqlext.analysis.inserts.changes:changes",
        "found.append(Change(part, a[0], b[0], _kind(part, a[0], old)))",
        "pass",
        "aggregate",
    ),
    Cut(
        15,
        "tests/unit/sources/test_packed.py::test_a_rowtime_that_is_null_fails_or_is_dropped",
        "sqlext.sources.program:_checked",
        'raise SqlExtError("RUN-001", f"rowtime {rowtime.name} is NULL")',
        "pass",
    ),
    Cut(
        21,
        "tests/faults/test_begun_again_on_spark.py::test_a_python_process_that_died",
        "sqlext.spark.failures:_unforeseen",
        "if _DIED in text:",
        "if False:",
    ),
    Cut(
        23,
        "tests/faults/test_interrupted.py::test_interrupt",
        "sqlext.session.api:Session._one",
        "self.stop()",
        "pass",
        "False",
    ),
    Cut(
        31,
        "tests/differential/test_batch.py::test_stream_and_batch",
        f"{_HOME}.write_heartbeat",
        'self._put(f"{_HEARTBEAT}/end.txt", "9999-01-01 00:00:00Z\\n")',
        'self._put(f"{_HEARTBEAT}/end.txt", "1970-01-01 00:00:01Z\\n")',
        "tvf_agg",
    ),
    Cut(
        32,
        "tests/differential/test_windows.py::test_equal",
        "sqlext.analysis.windows.table_functions:WindowCall._fixed",
        "slide = self._positive(step_name) if step_name else size",
        "slide = self._positive(step_name) // 2 if step_name else size",
        "HOP whose slide is its size",
    ),
    Cut(
        34,
        "tests/session/test_restricted.py::test_what_others_reach",
        "sqlext.policy:require_rows",
        "count > most",
        "count < 0",
    ),
    Cut(
        36,
        "tests/session/test_gone.py::test_each_statement_says_so",
        "sqlext.spark.gone:answering",
        "if has_gone(error):",
        "if False:",
    ),
)
