"""Translate Spark's failures: one code, one sentence, the statement's position."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import sqlext_udfs
from sqlext.connectors.delta.damage import damage_at
from sqlext.errors import SqlExtError, shown_cause
from sqlext.source import Span
from sqlext.sources.decoding.malformed import BAD_ROW
from sqlext.sources.file_log import PUTS_LOG_BACK
from sqlext.spark.conditions import met_in_a_row, named
from sqlext.spark.delta_failures import HINTS, delta_failure
from sqlext.spark.gone import gone, has_gone
from sqlext.spark.reading.bad_lines import bad_line
from sqlext.spark.worker_failures import worker_failure
from sqlext.stores.naming import told
from sqlext_catalog.log_damage import damaged
from sqlext_catalog.model import Table

_OURS = re.compile(r"\[(RUN-\d{3})\] ([^\n]*?)(?= SQLSTATE|\n|$)")
#: The same, raised by an operator of ours in a Python worker.
_OPERATOR = re.compile(r"^(?:[\w.]+\.)?SqlExtError: (RUN-\d{3}): ([^\n]*)", re.MULTILINE)
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\] ([^\n]*)")
#: Conditions that only wrap the real one.
_WRAPPERS = frozenset(
    {
        "STREAM_FAILED",
        "FAILED_EXECUTE_UDF",
        "TASK_WRITE_FAILED",
        "FAILED_READ_FILE",
        "FOREACH_BATCH_USER_FUNCTION_ERROR",
        "PYTHON_STREAMING_DATA_SOURCE_RUNTIME_ERROR",
        "PYTHON_DATA_SOURCE_ERROR",
    }
)
#: How Spark says that a reader of ours failed: no function of a user's.
_READER = re.compile(r"\[PYTHON_(?:STREAMING_)?DATA_SOURCE_")
_CANCELLED = ("SPARK_JOB_CANCELLED", "cancelled as part of cancellation", "InterruptedException")
#: The last line of a Python worker's traceback: what was raised, and why.
_PYTHON = re.compile(r"^(?:[A-Za-z_]\w*\.)*([A-Z]\w*): (.*)$", re.MULTILINE)
_FROM_PYTHON = "Traceback (most recent call last)"
#: py4j has the first exception behind a colon.
_JAVA = re.compile(r"^(?:Caused by: |: )?(?:[a-z][\w]*\.)+([A-Z]\w*(?:Exception|Error))(?:: (.*))?$", re.MULTILINE)
#: Java exceptions that only wrap the real one.
_JAVA_WRAPPERS = frozenset({"SparkException", "Py4JException", "StreamingQueryException", "ExecutionException"})
#: How Spark begins to say that a query failed; ids and the query's plan are of no use to users.
_TERMINATED = re.compile(r"\[STREAM_FAILED\] Query \[[^\]]*\] terminated with exception: ")
#: The query's plan in a failure's text: it quotes our own messages, raised or not.
_QUERY = re.compile(r"\n=== Streaming Query ===\n.*?(?=\n\s+at |\n\n?JVM stacktrace|\Z)", re.DOTALL)
#: Spark says of a row that it cannot decode no more than that there is one.
_NO_AVRO = "Malformed records are detected in record parsing"
_MALFORMED = ("[MALFORMED_RECORD_IN_PARSING", _NO_AVRO)
_CONDITION_AT_START = re.compile(r"^\[[A-Z][A-Z0-9_.]+\] ")
_SAYS_WHERE = "SET 'sqlext.bad-rows' = 'fail' says which row it is and where, 'drop' leaves such rows out"
_LEAVES_OUT = "SET 'sqlext.bad-rows' = 'drop' leaves such rows out and counts them; a table's name keeps them there"
#: A step of such a traceback: file, line, and the text there.
_FRAME = re.compile(r'^ *File "([^"]+)", line (\d+), in [^\n]+\n *([^\n]+)', re.MULTILINE)
#: Where files lie that no user has written.
_NOT_THE_USERS = ("/lib/python", "/pyspark.zip/", "<frozen ", "<string>")
_OUR_FOLDERS = tuple(f"{folder}/" for folder in (Path(__file__).parents[1], *sqlext_udfs.__path__))
#: Of errors that come from a process of Spark's as a text, which has no hint.
_HINTS = {"RUN-063": PUTS_LOG_BACK, **HINTS}
_DIED = "Python worker exited unexpectedly"
_BEGINS_AGAIN = (
    "the system ends a process that needs too much memory, and a function of yours may end it too; run it again: the "
    "query goes on with the batch that failed"
)
_NO_ROOM = re.compile(r"No space left|Disk quota exceeded|File too large|Read-only file system|Input/output error")
_MAKES_ROOM = "make room there and run it again: the query goes on with the batch that failed"
_SAYS_NOTHING = "SQLSTATE: XXKST"
#: The code of a failure that says no more than Spark does, and its hint where that is of a checkpoint.
UNFORESEEN = "RUN-100"
DAMAGED = "the checkpoint is damaged: DROP QUERY starts the query anew, without what it has in state"
_CHECKPOINT_FILE = re.compile(
    r"/checkpoint/(offsets|commits|metadata|state|sources)\b|\[STREAMING_(CHECKPOINT|STATEFUL_OPERATOR)_MISSING_"
    r"|\[CANNOT_LOAD_STATE_STORE\b|\bbatch \d+ doesn't exist"
)
#: Where a text names a file of a Delta table's log, as Spark and Hadoop write paths of this machine.
_IN_A_LOG = re.compile(r"(?:file:/{0,2})?(/[^\s'\"`,\[\]()]+?)/_delta_log/")
#: What Python and Java say of a file that is gone; ``[...]`` before Spark's says nothing more.
_GONE = re.compile(
    r"Failed to open local file '([^']+)'.*No such file"
    r"|FileNotFoundException: (?:File )?(\S+?) (?:does not exist|\(No such file)"
    r"|FILE_NOT_EXIST\] [^\n]*?reading file (\S+?)\.?(?: |\n|$)"
)
_BRINGS_BACK = (
    "put it back. If VACUUM took it from a Delta table, DROP QUERY starts the query anew with what is there; "
    "'delta.deletedFileRetentionDuration' keeps files longer"
)
#: Spark says which file it read, and Java behind it what is wrong with that.
_READ = re.compile(r"FAILED_READ_FILE[^\]]*\] [^\n]*?reading file (?:file:/{0,2}(?=/))?(\S+?)\.?(?: |\n|$)")


def run_error(error: BaseException, span: Span | None, tables: Sequence[Table] = ()) -> SqlExtError:
    """Return a failure of a running query as RUN-..., at its statement; as ENV-... where it is of Spark's Python.

    Args:
        tables: those that it reads: a line of theirs that cannot be read is looked for.
    """
    for cause in _causes(error):
        if isinstance(cause, SqlExtError):
            made = _bad_row(cause.message, span) if cause.code == BAD_ROW else cause
            return made if span is None else _caused(made.at(span), cause.__cause__ or error)
    if any(has_gone(cause) for cause in _causes(error)):
        return _caused(gone(span), error)
    text = _text(error)
    ours = _OURS.search(text) or _OPERATOR.search(text)
    if ours:
        made = _bad_row(ours.group(2), span) if ours.group(1) == BAD_ROW else _ours(ours, span)
    else:
        made = (
            worker_failure(text, span)
            or delta_failure(text, span)
            or _of_a_log(text, span)
            or _of_a_file(text, span)
            or _of_a_row(text, span, tables)
            or _unforeseen(text, span)
        )
    return _caused(made, error)


def _ours(said: re.Match[str], span: Span | None) -> SqlExtError:
    code = said.group(1)
    return SqlExtError(code, said.group(2).strip(), span=span, hint=_HINTS.get(code))


def _bad_row(said: str, span: Span | None) -> SqlExtError:
    """Return RUN-066; ``said`` tells the row's place, behind a condition of Spark's or our own words."""
    where = _CONDITION_AT_START.sub("", said.strip())
    message = (
        where if where.startswith(("a row of ", "a row cannot be decoded: ")) else f"a row cannot be decoded: {where}"
    )
    return SqlExtError(BAD_ROW, message, span=span, hint=_LEAVES_OUT)


def _of_a_log(text: str, span: Span | None) -> SqlExtError | None:
    """Return which file of a Delta table's log is damaged, where a text names one of that log."""
    for path in dict.fromkeys(_IN_A_LOG.findall(text)):
        if (what := damage_at(path)) is not None:
            made = damaged(path, what)
            return made if span is None else made.at(span)
    return None


def _of_a_file(text: str, span: Span | None) -> SqlExtError | None:
    """Return which file is gone; not of a checkpoint, of which other words are said."""
    found = _GONE.search(text)
    path = next(filter(None, found.groups()), None) if found is not None else None
    if path is None or _CHECKPOINT_FILE.search(text):
        return None
    return SqlExtError("RUN-094", f"a file that is to be read is gone: `{path}`", span=span, hint=_BRINGS_BACK)


def _of_a_row(text: str, span: Span | None, tables: Sequence[Table]) -> SqlExtError | None:
    """Return what is wrong with a row: with what a source holds, or with what is computed of it."""
    line = bad_line(text, tables)
    if line is not None:
        return _bad_row(line.message, span)
    if any(mark in text for mark in _MALFORMED):
        named = f" of `{tables[0].name.name}`" if len(tables) == 1 else ""
        message = f"a row{named} cannot be decoded: {_CONDITION_AT_START.sub('', sentence(text))}"
        return SqlExtError(BAD_ROW, message, span=span, hint=_SAYS_WHERE)
    return met_in_a_row(text, span)


def _unforeseen(text: str, span: Span | None) -> SqlExtError:
    from_users = _FROM_PYTHON in text and _PYTHON.search(text) and not _READER.search(text)
    code = "RUN-047" if from_users else UNFORESEEN
    if _DIED in text:
        return SqlExtError(code, f"a Python process of Spark died: {_DIED}", span=span, hint=_BEGINS_AGAIN)
    said = sentence(text)
    # Of a state that it cannot read, Spark may say no more than that it is a failure of a stream's.
    if _NO_ROOM.search(said):
        return SqlExtError(code, said, span=span, hint=_MAKES_ROOM)
    of_checkpoint = _CHECKPOINT_FILE.search(text) or said.startswith(_SAYS_NOTHING)
    return SqlExtError(code, said, span=span, hint=DAMAGED if of_checkpoint else _unreadable(text))


def _unreadable(text: str) -> str | None:
    """Return what to do about a file that Spark cannot read, None where it names none."""
    found = _READ.search(text)
    if found is None:
        return None
    name = found[1].rpartition("/")[2]
    return f"put the file back from a backup; if it is whole, its checksum is not: remove `.{name}.crc` beside it"


def refused(error: BaseException, span: Span | None) -> SqlExtError:
    """Return what Spark's analyser refuses in a rewritten query as RUN-101, before anything ran; ENV-... as above."""
    made = worker_failure(_text(error), span) or SqlExtError(
        "RUN-101",
        f"Spark refuses the query: {_CONDITION_AT_START.sub('', sentence(_text(error)))}",
        span=named(_text(error), span),
        hint="`sqlext rewrite` prints the Spark SQL that was tried",
    )
    return _caused(made, error)


def was_cancelled(error: BaseException) -> bool:
    """Whether Spark was told to give up: by ``stop``, or by Ctrl-C, which cancels jobs first."""
    text = _text(error)
    return any(mark in text for mark in _CANCELLED)


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__


def _caused(made: SqlExtError, cause: BaseException) -> SqlExtError:
    if made.__cause__ is None and cause is not made:
        made.__cause__ = shown_cause(cause)
    return made


def _text(error: BaseException) -> str:
    """Return what an exception says; what is none of Spark's says little without its type."""
    module = type(error).__module__.partition(".")[0]
    if isinstance(error, OSError):
        return told(error)
    known = module in ("pyspark", "py4j")
    return _QUERY.sub("\n", str(error)) if known else f"{type(error).__name__}: {error}"


def sentence(text: str) -> str:
    """Return the one sentence of a failure's text that says what was wrong."""
    text = _TERMINATED.sub("", text)
    found = [m for m in _CONDITION.finditer(text) if m.group(1).split(".")[0] not in _WRAPPERS]
    if found:
        condition, message = found[-1].groups()
        return f"[{condition}] {message.split(' SQLSTATE')[0].strip()}"
    python = _PYTHON.findall(text[text.index(_FROM_PYTHON) :]) if _FROM_PYTHON in text else []
    if python:
        name, message = python[-1]
        return f"{name}: {message}{_in_users_code(text)}"
    java = [m for m in _JAVA.finditer(text) if m.group(1) not in _JAVA_WRAPPERS]
    if java:
        name, message = java[-1].groups()
        if (of := _READ.search(text)) is not None:
            return f"`{of[1]}` cannot be read: {name}: {(message or '').strip()}"
        if _NO_AVRO in text:
            return f"{_NO_AVRO}: {name}"
        return f"{name}: {message.strip()}" if message else name
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[0].strip() if lines else "no reason given"


def _in_users_code(text: str) -> str:
    """Return where in a user's own code a Python worker's exception came from; empty if in none."""
    frames = [
        frame
        for frame in _FRAME.findall(text)
        if not frame[0].startswith(_OUR_FOLDERS) and not any(mark in frame[0] for mark in _NOT_THE_USERS)
    ]
    if not frames:
        return ""
    file, line, code = frames[-1]
    return f" ({file}:{line}: `{code.strip()}`)"
