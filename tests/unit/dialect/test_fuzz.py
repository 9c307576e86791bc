"""Whatever is written, the answer is statements or a SqlExtError with a position."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext.dialect.script import parse_script
from sqlext.dialect.tokens import TokenKind, tokenize
from sqlext.dialect.variables import substitute
from sqlext.errors import SqlExtError
from sqlext.source import SourceText

CASES = Path(__file__).parents[2] / "conformance" / "cases" / "flink"
OWN = r"""
CREATE TABLE t (a INT NOT NULL, b AS a + 1, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
PRIMARY KEY (a) NOT ENFORCED) WITH ('k' = 'v') LIKE s (EXCLUDING ALL);

INSERT INTO t /*+ OPTIONS('a'='b') */ SELECT CASE WHEN a THEN x -> y[1].c::INT END,
SUM(a) FILTER (WHERE b) OVER (PARTITION BY c ORDER BY d ROWS 1 PRECEDING) FROM TABLE(TUMBLE(TABLE t,
DESCRIPTOR(ts), INTERVAL 5 MINUTES)) AS u (a, b) LEFT JOIN LATERAL (SELECT 1) ON TRUE
GROUP BY GROUPING SETS ((a, b), ()) EMIT AFTER WATERMARK EARLY EVERY 5s LIMIT 3;

WITH a AS (VALUES (1, 'x')) (SELECT * FROM a) UNION ALL SELECT TRIM(BOTH ' ' FROM b),
JSON_VALUE(j, '$' RETURNING INT NULL ON EMPTY) FROM s FOR SYSTEM_TIME AS OF x AS y ORDER BY 1 DESC NULLS LAST;

ALTER TABLE t ADD (a INT FIRST); EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; END; SHOW TABLES LIKE 'a';
SELECT k FROM t GROUP BY k EMIT CHANGELOG ONCE (AFTER AT LEAST 3 ROWS OR EVERY INTERVAL '5' SECOND ALIGNED TO 1 MINUTE
OFFSET 15s UNTIL WHEN (SUM(a) > 1)) AND ALL OF (AFTER ABS DELTA OF (a) > 2.5, NEVER TIMEOUT 5s SINCE LAST ROW PURGING)
RETRACTING ALLOW LATENESS '1'MINUTE LATE DATA TO late ON TIME PANE ALWAYS FINAL PANE IF NOT EMPTY
PANE TIMESTAMP END OF WINDOW OPTIONS (deadline = 'after', session_gap = exclusive);

SELECT k FROM t GROUP BY k EMIT CASE WHEN a IS DISTINCT FROM b THEN FIRE AND PURGE ELSE CONTINUE END THEN
USING TRIGGER f(10, x => 'y') KEEP LAST 4 ROWS AFTER FIRING; SELECT 1 EMIT AFTER KEY EXPIRE IDENTIFIED BY t.c WITH
MAXSPAN 500ms AND TIMEOUT 2s; SELECT 1 EMIT LAST 1h ON PROCTIME AND PERIODIC 5s; SELECT 1 EMIT ON UPDATE WITH BATCH 1s;
SELECT 1 EMIT FINAL; SELECT 1 EMIT WITH DELAY 5s BEFORE WATERMARK, WITHOUT DELAY AFTER WATERMARK GRACE PERIOD 1d;

EXPLAIN JSON SELECT r'x\' || "y"; SET a.b = 1; RESET; MERGE INTO x USING y;
""".split("\n\n")
SCRIPTS = [*OWN, *(path.read_text() for path in sorted(CASES.glob("*/*/script.sql"))[::7])]
TOKENS = sorted({t.text for text in SCRIPTS for t in tokenize(SourceText.of(text)) if t.kind is not TokenKind.END})
PIECES = st.one_of(
    st.sampled_from(TOKENS),
    st.sampled_from(
        [*"()[]{}<>,;.'\"`-+*/\\?:@#$!\n", "/*", "*/", "--", "/*+", "::", "->", "=>", "${X}", "\0", "é", "𝒳"]
    ),
    st.text(max_size=3),
)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(SCRIPTS))
    tokens = tokenize(SourceText.of(text))
    cuts = sorted({0, len(text), *(t.start for t in tokens)})
    parts = [text[a:b] for a, b in pairwise(cuts)]
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(len(parts) - 1, 0)))
        action = draw(st.sampled_from(["drop", "insert", "replace", "swap", "repeat", "cut"]))
        if action == "insert":
            parts.insert(at, draw(PIECES) + " ")
        elif action == "replace":
            parts[at : at + 1] = [draw(PIECES)]
        elif action == "swap":
            parts[at : at + 2] = reversed(parts[at : at + 2])
        elif action == "repeat":
            parts[at : at + 1] = parts[at : at + 1] * draw(st.integers(2, 5))
        else:
            parts[at : at + (1 if action == "drop" else 9)] = []
    return "".join(parts)


def check(text: str, mode: str) -> None:
    error = refusal(text, mode)
    if error is not None:
        assert error.line is not None
        assert error.code.startswith(("PARSE-", "EMIT-0", "MATCH-00", "NAME-001"))
        assert error.render()


def refusal(text: str, mode: str) -> SqlExtError | None:
    try:
        source = substitute(text, {"IN": "in", "OUT": "out"})
        for statement in parse_script(source, mode):
            for node in statement.walk():
                assert 0 <= node.span.start <= node.span.end <= len(node.span.source.text)
    except SqlExtError as error:
        return error
    return None


@settings(max_examples=400, deadline=None)
@given(mutated(), st.sampled_from(["spark", "flink"]))
def test_mutated_scripts(text: str, mode: str) -> None:
    check(text, mode)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60), st.sampled_from(["spark", "flink"]))
def test_any_text(text: str, mode: str) -> None:
    check(text, mode)


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=25), st.sampled_from(["SELECT ", "CREATE TABLE t (", "INSERT INTO t ", ""]))
def test_any_tokens(pieces: list[str], start: str) -> None:
    check(start + " ".join(pieces), "spark")
