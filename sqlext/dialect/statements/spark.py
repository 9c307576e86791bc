"""Say which statements are Spark's or Delta's, by their first words; all others are refused here.

Spark would find a slip only when the statement's turn comes, and what stands before it would have run by then.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection

from sqlext.dialect.cursor import Cursor
from sqlext.dialect.keywords import unsupported
from sqlext.dialect.tokens import TokenKind, words
from sqlext.errors import SqlExtError

_FILES = "JAR JARS FILE FILES ARCHIVE ARCHIVES"
_DROPPED = "TABLE VIEW DATABASE SCHEMA NAMESPACE FUNCTION INDEX VARIABLE"

#: What may follow a first word of Spark's, Delta's or Databricks'; None says anything.
#: Words of ours stand here as well: some of their forms are Spark's.
_FOLLOWING: dict[str, tuple[str, ...] | None] = {
    **dict.fromkeys(
        words(
            "SELECT WITH VALUES TABLE INSERT DESCRIBE DESC SET RESET FROM MAP REDUCE OPTIMIZE VACUUM RESTORE REFRESH "
            "UPDATE DECLARE GRANT REVOKE SYNC UNDROP GENERATE"
        )
    ),
    "ADD": words(_FILES),
    "ALTER": words("TABLE VIEW DATABASE SCHEMA NAMESPACE"),
    "ANALYZE": words("TABLE TABLES"),
    "CACHE": words("TABLE LAZY"),
    "CLEAR": words("CACHE"),
    "COMMENT": words("ON"),
    "CONVERT": words("TO"),
    "COPY": words("INTO"),
    "CREATE": words(_DROPPED),
    "DELETE": words("FROM"),
    "DROP": words(_DROPPED),
    "EXECUTE": words("IMMEDIATE"),
    "FSCK": words("REPAIR"),
    "LIST": words(_FILES),
    "LOAD": words("DATA"),
    "MERGE": words("INTO WITH"),
    "MSCK": words("REPAIR"),
    "REORG": words("TABLE"),
    "REPAIR": words("TABLE"),
    "REPLACE": words("TABLE"),
    "SHOW": words(
        "ALL CATALOGS COLLATIONS COLUMNS CREATE CURRENT DATABASES DETAILS FUNCTIONS GRANT GRANTS INDEXES NAMESPACES "
        "PARTITIONS SCHEMAS SYSTEM TABLE TABLES TBLPROPERTIES USER USERS VIEWS VOLUMES"
    ),
    "STOP": words("JOB"),
    "TRUNCATE": words("TABLE"),
    "UNCACHE": words("TABLE"),
}
#: Words between CREATE or DROP and what is created.
_MODIFIERS = frozenset(words("OR REPLACE GLOBAL TEMPORARY TEMP EXTERNAL"))

#: Flink's statements that neither this dialect nor Spark has, by their first words, and what to do instead.
_FLINK_ONLY: dict[tuple[str, str], tuple[str, str]] = {
    ("LOAD", "MODULE"): ("LOAD MODULE", "leave it out: the built-in functions are always there"),
    ("UNLOAD", "MODULE"): ("UNLOAD MODULE", "leave it out: the built-in functions are always there"),
    ("USE", "MODULES"): ("USE MODULES", "leave it out: the built-in functions are always there"),
    ("CREATE", "MODEL"): ("CREATE MODEL", "register a Python function that asks the model, and call that"),
    ("ALTER", "MODEL"): ("ALTER MODEL", "register a Python function that asks the model, and call that"),
    ("DROP", "MODEL"): ("DROP MODEL", "leave it out: there are no models"),
    ("SHOW", "MODELS"): ("SHOW MODELS", "leave it out: there are no models"),
    ("CREATE", "MATERIALIZED"): ("CREATE MATERIALIZED TABLE", "write CREATE MATERIALIZED VIEW"),
    ("REMOVE", "JAR"): ("REMOVE JAR", "leave it out: a JAR stays until the Spark session ends"),
    ("COMPILE", "PLAN"): ("COMPILE PLAN", "leave it out: a query is planned when it starts, and its state stays"),
}


def check_spark(cursor: Cursor, ours: Collection[str]) -> None:
    """Refuse a statement that Spark is not known to take; the cursor stands before it, and does not move.

    Args:
        ours: the first words of our own statements, for the hint.

    Raises:
        SqlExtError: PARSE-002 at the word that begins no statement, PARSE-004 for a statement that only Flink has.
    """
    index = cursor.index
    first = cursor.token
    _refuse_flink_only(cursor)
    if first.kind is not TokenKind.WORD or first.upper not in _FOLLOWING:
        raise _misspelled(cursor, "a statement", {*_FOLLOWING, *ours})
    following = _FOLLOWING[first.upper]
    if following is None:
        return
    cursor.advance()
    if first.upper in ("CREATE", "DROP"):
        while cursor.token.upper in _MODIFIERS:
            cursor.advance()
    if cursor.token.upper not in following:
        raise _misspelled(cursor, f"what {first.upper} is followed by", following)
    cursor.index = index


def _refuse_flink_only(cursor: Cursor) -> None:
    first, second = cursor.token.upper, cursor.peek().upper
    if first == "CALL":
        raise unsupported(cursor, "CALL", "do in Python what the procedure does")
    if (first, second) in _FLINK_ONLY:
        what, hint = _FLINK_ONLY[first, second]
        raise unsupported(cursor, what, hint)


def _misspelled(cursor: Cursor, expected: str, known: Collection[str]) -> SqlExtError:
    close = difflib.get_close_matches(cursor.token.upper, sorted(known), n=1, cutoff=0.7)
    hint = f"did you mean {close[0]}?" if close else "neither sqlext nor Spark has a statement that begins so"
    return cursor.unexpected(expected, hint=hint)
