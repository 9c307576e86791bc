"""Scripts to mutate, and how they go through everything that needs no Spark."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from hypothesis import strategies as st

from sqlext.dialect.tokens import TokenKind, tokenize
from sqlext.dialect.variables import substitute
from sqlext.errors import SqlExtError
from sqlext.session.offline.commands import TARGETS, explain_source, rewrite_source
from sqlext.session.offline.compilation import new_state
from sqlext.source import SourceText

ROOT = Path(__file__).parents[2]
FILES = [
    *sorted((ROOT / "tests/conformance/cases").glob("*/*/*/script.sql"))[::3],
    *sorted((ROOT / "sql_examples").glob("*.sql")),
]


def _words(text: str) -> set[str]:
    """Return the words of a script; none of one whose strings do not end, which some cases are about."""
    try:
        return {t.text for t in tokenize(SourceText.of(text), "flink") if t.kind is not TokenKind.END}
    except SqlExtError:
        return set()


SCRIPTS = [text for path in FILES if _words(text := path.read_text("utf-8"))]
TOKENS = sorted({word for text in SCRIPTS for word in _words(text)})
OUTPUTS = (*TARGETS, "text", "json", "mermaid")


def refusal(text: str, mode: str, output: str = "spark") -> SqlExtError | None:
    """Return the error that a script is refused with, None if it is taken; anything else escapes."""
    state = new_state(None)
    state.settings = state.settings.with_value("sqlext.expressions", mode)
    try:
        source = substitute(text, {"IN": "/in", "OUT": "/out"})
        if output in TARGETS:
            rewrite_source(source, state, output)
        else:
            explain_source(source, state, output)
    except SqlExtError as error:
        return error
    return None


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """Return a script with a few tokens dropped, repeated, swapped or replaced."""
    text = draw(st.sampled_from(SCRIPTS))
    starts = [t.start for t in tokenize(SourceText.of(text), "flink")]
    parts = [text[a:b] for a, b in pairwise(sorted({0, len(text), *starts}))]
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(parts) - 1, 0)))
        action = draw(st.sampled_from(["drop", "repeat", "swap", "replace", "replace", "insert"]))
        if action == "drop":
            del parts[at : at + 1]
        elif action == "repeat":
            parts[at : at + 1] *= draw(st.integers(2, 4))
        elif action == "swap":
            other = draw(st.integers(0, max(len(parts) - 1, 0)))
            parts[at], parts[other] = parts[other], parts[at]
        elif action == "replace":
            parts[at : at + 1] = [draw(st.sampled_from(TOKENS)) + " "]
        else:
            parts.insert(at, draw(st.sampled_from(TOKENS)) + " ")
    return "".join(parts)


@st.composite
def renamed(draw: st.DrawFn) -> str:
    """Return a script in which a few words and literals are others of the same script: it can mostly be read."""
    text = draw(st.sampled_from(SCRIPTS))
    tokens = [t for t in tokenize(SourceText.of(text), "flink") if t.kind is not TokenKind.END]
    parts = [text[a:b] for a, b in pairwise([0, *(t.start for t in tokens), len(text)])]
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(tokens) - 1))
        same = [t.text for t in tokens if t.kind is tokens[at].kind]
        parts[at + 1] = draw(st.sampled_from(same)) + " "
    return "".join(parts)
