"""List keywords: where each has a meaning, which Flink reserves, and which an editor offers.

This dialect reserves no word whose meaning the grammar can tell from its place. Under Flink's expressions a new name
is none of the words that Flink reserves.
"""

from __future__ import annotations

from sqlext.dialect.cursor import Cursor
from sqlext.dialect.tokens import Token, TokenKind, words
from sqlext.errors import SqlExtError

#: Words that cannot begin an expression unless quoted: a forgotten operand shows at its place.
#: LEFT, RIGHT and REPLACE are missing: they are functions too.
NOT_AN_OPERAND = frozenset(
    words(
        "SELECT FROM WHERE GROUP HAVING QUALIFY ORDER LIMIT UNION INTERSECT EXCEPT ON USING JOIN CROSS INNER NATURAL "
        "WHEN THEN ELSE AS AND OR IN IS LIKE BETWEEN INTO DISTINCT"
    )
)

#: Words that end a select item or an expression and so are no alias without AS.
_CLAUSES = frozenset(
    words(
        "SELECT FROM WHERE GROUP HAVING QUALIFY ORDER LIMIT OFFSET UNION INTERSECT EXCEPT MINUS INTO ON AS AND OR "
        "WHEN THEN ELSE"
    )
)
#: The same for a relation.
_RELATION_CLAUSES = _CLAUSES | frozenset(
    words(
        "JOIN INNER LEFT RIGHT FULL CROSS NATURAL SEMI ANTI USING LATERAL TABLESAMPLE PIVOT UNPIVOT "
        "MATCH_RECOGNIZE SET WATERMARK"
    )
)
#: Words that end both only before one of certain words.
_CLAUSE_PAIRS = {
    "FETCH": ("FIRST", "NEXT"),
    "FOR": ("SYSTEM_TIME", "VERSION", "TIMESTAMP", "SYSTEM_VERSION"),
    "VERSION": ("AS",),
    "TIMESTAMP": ("AS",),
    "WITH": ("ORDINALITY", "("),
    "INSERT": ("INTO", "OVERWRITE"),
    "SORT": ("BY",),
    "CLUSTER": ("BY",),
    "DISTRIBUTE": ("BY",),
    "ASOF": ("JOIN", "LEFT", "INNER"),
    "MATCH_CONDITION": ("(",),
}

#: What Spark has and this dialect has not, by the word that shows it, and what to write instead.
SPARK_ONLY: dict[str, tuple[str, str | None]] = {
    "TABLESAMPLE": ("TABLESAMPLE", "write WHERE RAND() < 0.1"),
    "PIVOT": ("PIVOT", "write one aggregate with FILTER (WHERE ..) per column"),
    "UNPIVOT": ("UNPIVOT", None),
    "SORT": ("SORT BY", "write ORDER BY"),
    "CLUSTER": ("CLUSTER BY", None),
    "DISTRIBUTE": ("DISTRIBUTE BY", None),
    "LATERAL": ("LATERAL VIEW", "write CROSS JOIN UNNEST(x) AS t (a)"),
    "WATERMARK": ("WATERMARK in FROM", "declare it with the table: WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"),
}

_EMIT_NEXT = frozenset(
    words(
        "STREAM CHANGELOG CHANGES FINAL DEFAULT CONTINUE AFTER EVERY PERIODIC WITH WITHOUT TIMEOUT LAST PER NEVER "
        "REPEAT ONCE ALL ANY EACH WHEN CASE ACCUMULATING DISCARDING RETRACTING ALLOW GRACE KEEP EVICT DROP PANE LATE "
        "OPTIONS FILL"
    )
)

#: The keywords that an editor offers and colours; none of them is reserved for that.
KEYWORDS = frozenset(
    words(
        """
    ACCUMULATING ADD AFTER ALL ALLOW ALTER ANALYZE AND ANTI ANY ARRAY AS ASC BEGIN BETWEEN BIGINT BINARY BOOLEAN BY
    BYTES CASCADE CASE CAST CATALOG CATALOGS CHANGELOG CHANGES CHAR COLUMN COLUMNS COMMENT CONFLICT CONSTRAINT CREATE
    CROSS CUBE CUMULATE CURRENT DATABASE DATABASES DATE DAY DAYS DECIMAL DEFINE DELAY DEPLOY DESC DESCRIBE DESCRIPTOR
    DISCARDING DISTINCT DO DOUBLE DROP EARLY ELSE EMIT END ENFORCED EVERY EVICT EXCEPT EXECUTE EXISTS EXPLAIN EXTENDED
    FALSE FETCH FILTER FINAL FIRST FLOAT FOLLOWING FOR FROM FULL FUNCTION FUNCTIONS GENERATED GROUP GROUPING HAVING HOP
    HOUR HOURS IF ILIKE IN INCLUDING INNER INSERT INT INTEGER INTERSECT INTERVAL INTO IS JOB JOBS JOIN KEEP KEY LANGUAGE
    LAST LATE LATENESS LATERAL LEFT LIKE LIMIT MAP MATCH MATCH_RECOGNIZE MATERIALIZED MEASURES METADATA MILLISECOND
    MINUTE MINUTES MODIFY MONTH MULTISET NATURAL NEXT NOT NULL NULLS OF OFFSET ON ONE OPTIONS OR ORDER ORDINALITY OUTER
    OVER OVERWRITE PANE PARTITION PARTITIONED PAST PATTERN PER PLAN PRECEDING PRIMARY PYTHON QUALIFY QUERIES QUERY RANGE
    RENAME REPEAT REPLACE REPLAY RESET RETRACTING RIGHT ROLLUP ROW ROWS SAVEPOINT SECOND SECONDS SELECT SEMI SESSION SET
    SETS SHOW SKIP SLIDE SMALLINT STATEMENT STOP STREAM STRING SUBSET SYSTEM SYSTEM_TIME TABLE TABLES TEMPORARY THEN
    TIME TIMESTAMP TIMESTAMP_LTZ TINYINT TO TRIGGER TRUE TUMBLE UNBOUNDED UNION UNNEST USE USING VALUES VARCHAR VIEW
    VIEWS VIRTUAL WATERMARK WATERMARKS WEEK WHEN WHERE WHY WINDOW WITH WITHIN WITHOUT YEAR
    """
    )
)


#: What Flink 2.3.0 refuses as a column's name unless quoted, found by asking its parser.
FLINK_RESERVED = frozenset(
    words(
        """
    ABS ALL ALLOCATE ALLOW ALTER AND ANY ARE ARRAY ARRAY_CONCAT_AGG ARRAY_MAX_CARDINALITY AS ASENSITIVE
    ASYMMETRIC AT ATOMIC AUTHORIZATION AVG BEGIN BEGIN_FRAME BEGIN_PARTITION BETWEEN BIGINT BINARY BIT
    BLOB BOOLEAN BOTH BUCKETS BY BYTES CALL CALLED CARDINALITY CASCADED CASE CAST CATALOGS CEIL CEILING
    CHAR CHARACTER CHARACTER_LENGTH CHAR_LENGTH CHECK CLASSIFIER CLOB CLOSE COALESCE COLLATE COLLECT
    COLUMN COMMENT COMMIT CONDITION CONNECT CONSTRAINT CONTAINS CONTAINS_SUBSTR CONVERT CORR
    CORRESPONDING COUNT COVAR_POP COVAR_SAMP CREATE CROSS CUBE CUME_DIST CURRENT CURRENT_CATALOG
    CURRENT_DATE CURRENT_DEFAULT_TRANSFORM_GROUP CURRENT_PATH CURRENT_ROLE CURRENT_ROW CURRENT_SCHEMA
    CURRENT_TIME CURRENT_TIMESTAMP CURRENT_TRANSFORM_GROUP_FOR_TYPE CURRENT_USER CURSOR CYCLE DATABASES
    DATE DATETIME DATETIME_TRUNC DATE_TRUNC DAY DEALLOCATE DEC DECIMAL DECLARE DEFAULT DEFINE DELETE
    DENSE_RANK DEREF DESCRIBE DETERMINISTIC DISALLOW DISCONNECT DISTINCT DISTRIBUTED DISTRIBUTION DOT
    DOUBLE DROP DYNAMIC EACH ELEMENT ELSE EMPTY END END_FRAME END_PARTITION EQUALS ESCAPE EVERY EXCEPT
    EXEC EXECUTE EXISTS EXP EXPLAIN EXTEND EXTENDED EXTERNAL EXTRACT FALSE FETCH FILTER FIRST_VALUE
    FLOAT FLOOR FOR FOREIGN FRAME_ROW FREE FRESHNESS FRIDAY FROM FULL FUNCTION FUNCTIONS FUSION GET
    GLOBAL GRANT GROUP GROUPING GROUPS GROUP_CONCAT HASH HAVING HOLD HOUR IDENTITY ILIKE IMPORT IN
    INCLUDE INDICATOR INITIAL INNER INOUT INSENSITIVE INSERT INT INTEGER INTERSECT INTERSECTION
    INTERVAL INTO IS JOIN JSON_ARRAY JSON_ARRAYAGG JSON_EXISTS JSON_OBJECT JSON_OBJECTAGG JSON_QUERY
    JSON_SCOPE JSON_VALUE LAG LANGUAGE LARGE LAST_VALUE LATERAL LEAD LEADING LEFT LIKE LIKE_REGEX LIMIT
    LN LOCAL LOCALTIME LOCALTIMESTAMP LOWER MATCH MATCHES MATCH_NUMBER MATCH_RECOGNIZE MATERIALIZED MAX
    MEASURES MEMBER MERGE METHOD MIN MINUS MINUTE MOD MODELS MODIFIES MODIFY MODULE MODULES MONDAY
    MONTH MULTISET NATIONAL NATURAL NCHAR NCLOB NEW NEXT NO NONE NORMALIZE NOT NTH_VALUE NTILE NULL
    NULLIF NUMERIC OCCURRENCES_REGEX OCTET_LENGTH OF OFFSET OLD OMIT ON ONE ONLY OPEN OR ORDER ORDINAL
    OUT OUTER OVER OVERLAPS OVERLAY PARAMETER PARTITION PATTERN PER PERCENT PERCENTILE_CONT
    PERCENTILE_DISC PERCENT_RANK PERIOD PERMUTE PIVOT PORTION POSITION POSITION_REGEX POWER PRECEDES
    PRECISION PREPARE PREV PRIMARY PROCEDURE PROCEDURES QUALIFY QUARTERS RANGE RANK RAW READS REAL
    RECURSIVE REF REFERENCES REFERENCING REFRESH REFRESH_MODE REGR_AVGX REGR_COUNT REGR_SLOPE RELEASE
    RENAME RESET RESULT RESUME RETURN RETURNS REVOKE RIGHT RLIKE ROLLBACK ROLLUP ROW ROWS ROW_NUMBER
    RUNNING SAFE_CAST SAFE_OFFSET SAFE_ORDINAL SATURDAY SAVEPOINT SCALA SCOPE SCROLL SEARCH SECOND SEEK
    SELECT SENSITIVE SEPARATOR SESSION_USER SET SHOW SIMILAR SKIP SMALLINT SOME SPECIFIC SPECIFICTYPE
    SQL SQLEXCEPTION SQLSTATE SQLWARNING SQRT START STATEMENT STATIC STDDEV_POP STDDEV_SAMP STREAM
    STRING STRING_AGG SUBMULTISET SUBSET SUBSTRING SUBSTRING_REGEX SUCCEEDS SUM SUNDAY SUSPEND
    SYMMETRIC SYSTEM SYSTEM_TIME SYSTEM_USER TABLE TABLES TABLESAMPLE THEN THURSDAY TIME TIMESTAMP
    TIMESTAMP_DIFF TIMESTAMP_LTZ TIMESTAMP_TRUNC TIMEZONE_HOUR TIMEZONE_MINUTE TIME_DIFF TIME_TRUNC
    TINYINT TO TRAILING TRANSLATE TRANSLATE_REGEX TRANSLATION TREAT TRIGGER TRIM TRIM_ARRAY TRUE
    TRUNCATE TRY_CAST TUESDAY UESCAPE UNION UNIQUE UNKNOWN UNNEST UNPIVOT UPDATE UPPER UPSERT USE USER
    USING VALUE VALUES VALUE_OF VARBINARY VARCHAR VARIANT VARYING VAR_POP VAR_SAMP VERSIONING VIEWS
    WATERMARK WATERMARKS WEDNESDAY WEEKS WHEN WHENEVER WHERE WIDTH_BUCKET WINDOW WITH WITHIN WITHOUT
    YEAR
    """
    )
)


_NAME = "'s name"


def expect_new_name(cursor: Cursor, what: str) -> Token:
    """Move past a word that names a column or a table, and return it.

    Raises:
        SqlExtError: PARSE-002 where there is none, PARSE-005 for a word that Flink reserves, under its expressions.
    """
    # Spark reserves none of these words by default, and a quoted name has no `upper`.
    token = cursor.expect_identifier(what)
    if cursor.mode == "flink" and cursor.reserves and token.upper in FLINK_RESERVED:
        use = f"name {what.removesuffix(_NAME)}" if what.endswith(_NAME) else f"be {what}"
        raise SqlExtError(
            "PARSE-005",
            f"{token.upper} is a reserved word in Flink and cannot {use} as it stands",
            span=cursor.source.span(token.start, token.end),
            hint=f"write it in backticks: `{token.text}`; or is something missing before it?",
        )
    return token


def at_emit(cursor: Cursor) -> bool:
    """Whether an EMIT clause begins here: EMIT is a name unless a word of the clause follows."""
    if cursor.token.upper != "EMIT":
        return False
    following = cursor.peek()
    # `JOIN u emit ON ..` and `JOIN u emit USING (id)` have an alias: only the word behind tells.
    if following.upper == "ON":
        after = cursor.peek(2).upper
        return after in ("UPDATE", "TIME") or (after == "WINDOW" and cursor.peek(3).upper == "CLOSE")
    if following.upper == "USING":
        return cursor.peek(2).upper == "TRIGGER"
    return following.upper in _EMIT_NEXT or (following.kind is TokenKind.SYMBOL and following.text == "(")


def at_alias(cursor: Cursor, relation: bool = False) -> bool:
    """Whether the next word is an alias written without AS."""
    token = cursor.token
    if token.kind is not TokenKind.WORD:
        return token.kind is TokenKind.QUOTED
    word = token.upper
    if word in (_RELATION_CLAUSES if relation else _CLAUSES):
        return False
    if word in _CLAUSE_PAIRS:
        following = cursor.peek()
        return (following.upper or following.text) not in _CLAUSE_PAIRS[word]
    # WINDOW is a name too; the clause is known by `name AS` behind it.
    if word == "WINDOW":
        return not (cursor.peek().kind in (TokenKind.WORD, TokenKind.QUOTED) and cursor.peek(2).upper == "AS")
    return not at_emit(cursor)


def at_query(cursor: Cursor, ahead: int = 0) -> bool:
    """Whether a query begins here, parentheses aside."""
    token, following = cursor.peek(ahead), cursor.peek(ahead + 1)
    if token.upper == "SELECT":
        return True
    if token.upper == "WITH":
        return following.kind in (TokenKind.WORD, TokenKind.QUOTED)
    # In `f(values)` and `(values.a)` it is a name: no row begins with what follows there.
    if token.upper == "VALUES":
        return following.kind is not TokenKind.SYMBOL or following.text in ("(", "-", "+", "[")
    # TABLE (...) is a table function or an argument, no query.
    return token.upper == "TABLE" and following.kind in (TokenKind.WORD, TokenKind.QUOTED)


def unsupported(cursor: Cursor, what: str, hint: str | None = None) -> SqlExtError:
    """Return PARSE-004: a construct of Spark or Flink that this dialect does not have."""
    span = cursor.source.span(cursor.token.start, cursor.token.end)
    return SqlExtError("PARSE-004", f"{what} is not part of this dialect", span=span, hint=hint)
