"""Documents of an editor: what is kept of an earlier version is what a new one would give."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from sqlext import meanings, settings
from sqlext.connectors.completion import option_keys
from sqlext.connectors.registry import CONNECTORS
from sqlext.dialect.emit.nodes import EmitClause
from sqlext.dialect.emit.words import in_words
from sqlext.dialect.script import parse_script, split_script, statement_start
from sqlext.errors import SqlExtError
from sqlext.session.editing.documents import Document
from sqlext.session.editing.project import EditorProject, project_of
from sqlext.session.editing.steps import Surroundings
from sqlext.session.offline.compilation import new_state
from sqlext.source import SourceText
from tests.markdown import blocks

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "sql_examples" / "46_joins.sql").read_text("utf-8")


def fresh(text: str) -> Document:
    return Document("a.sql", text, Surroundings.of(new_state(None).fork()))


def test_a_changed_document_has_the_findings_of_a_new_one() -> None:
    chance, document = random.Random(28), fresh(TEXT)
    text = TEXT
    for _ in range(25):
        at = chance.randrange(len(text))
        removed = text[: at - 1] + text[at + chance.randrange(12) :]
        text = chance.choice([removed, f"{text[:at]}\n{text[at:]}", f"{text[:at]} x{text[at:]}", TEXT])
        document.update(text)
        # Some versions are never looked at to their end.
        document.step(chance.randrange(len(document)))
        if chance.random() < 0.6:
            assert document.findings() == fresh(text).findings()
    document.update(TEXT)
    assert document.findings() == fresh(TEXT).findings()


def test_what_does_not_name_a_changed_table_is_not_checked_again() -> None:
    tables = "".join(f"CREATE TABLE {t} (x INT) WITH ('connector' = 'datagen');\n" for t in "ab")
    queries = "SELECT x FROM a;\nSELECT x FROM b;\n"
    document = fresh(tables + queries)
    before = [step.checked for step in document.steps()]
    document.update((tables + queries).replace("a (x INT", "a (x BIGINT"))
    after = [step.checked for step in document.steps()]
    assert [old is new for old, new in zip(before, after, strict=True)] == [False, True, False, True, True]


def test_what_stands_between_two_changes_is_not_checked_again() -> None:
    """As a rename changes it: many statements at once, none more and none less."""
    tables = "".join(f"CREATE TABLE {t} (x INT) WITH ('connector' = 'datagen');\n" for t in "abc")
    text = f"{tables}SELECT x FROM a;\nSELECT x FROM b;\nSELECT x FROM c;\nSELECT x FROM a;\n"
    document = fresh(text)
    before = [step.checked for step in document.steps()]
    other = document.copied()
    other.update(text.replace("TABLE a ", "TABLE d ").replace("FROM a", "FROM d"))
    assert other.findings() == []
    after = [step.checked for step in other.steps()]
    changed = [old is not new for old, new in zip(before, after, strict=True)]
    assert changed == [True, False, False, True, False, False, True, False]
    # The first one is as it was.
    assert [step.checked for step in document.steps()] == before
    assert document.text == text


def test_many_changes_at_once_give_the_findings_of_a_new_document() -> None:
    chance, document = random.Random(7), fresh(TEXT)
    words = sorted({word for word in TEXT.replace(",", " ").split() if word.isidentifier()})
    for _ in range(12):
        text = TEXT
        for word in chance.sample(words, 2):
            text = text.replace(word, f"{word}_2")
        document.update(text)
        assert document.findings() == fresh(text).findings()


def test_moved_findings_keep_their_words() -> None:
    text = "CREATE TABLE a (x INT) WITH ('connector' = 'datagen');\nSELECT z FROM a;\n"
    document = fresh(text)
    (found,) = document.findings()
    document.update("\n\n" + text)
    (moved,) = document.findings()
    assert (moved.start, moved.end, moved.message) == (found.start + 2, found.end + 2, found.message)


@pytest.mark.parametrize("example", sorted((ROOT / "sql_examples").glob("*.sql")), ids=lambda p: p.stem)
def test_scripts_are_split_where_they_are_parsed(example: Path) -> None:
    text = example.read_text("utf-8").replace("${", "$")
    source = SourceText.of(text)
    spans = [s.span.start for s in parse_script(source, unparsed=True)]
    begins = [statement_start(text, *found) for found in split_script(text)]
    assert [b for b in begins if b < len(text)] == spans


def test_every_option_has_a_meaning() -> None:
    keys = {key for name in CONNECTORS for key in option_keys({"connector": name})}
    keys |= {
        key for form in ("csv", "json", "parquet") for key in option_keys({"connector": "filesystem", "format": form})
    }
    assert [key for key in sorted(keys) if meanings.of_table_option(key) is None] == []
    assert [key for key in settings.known_keys() if meanings.of_setting(key) is None] == []


def test_every_emit_clause_of_the_page_is_said_in_words() -> None:
    page = (ROOT / "docs" / "emit.md").read_text("utf-8")
    texts = [block.text for block in blocks(page) if block.language == "sql"]
    said = 0
    for text in texts:
        for statement in parse_script(SourceText.of(text), unparsed=True, on_error=lambda error, span: None):
            for node in statement.walk():
                if isinstance(node, EmitClause):
                    sentences = in_words(node)
                    assert all(s.endswith(".") for s in sentences[:-1])
                    assert sentences[0].startswith("A result comes out ")
                    said += 1
    assert said > 25


def project(text: str) -> EditorProject:
    found = project_of()
    found.open("a.sql", text)
    return found


def test_candidates_before_a_statement_are_those_of_a_new_one() -> None:
    text = "-- first\n\nSELECT 1;\n"
    assert "CREATE" in {c.text for c in project(text).candidates("a.sql", text.index("\nSELECT"))}
    assert project(text).hover("a.sql", 3) is None


def test_a_name_of_the_catalog_is_not_renamed(tmp_path: Path) -> None:
    with pytest.raises(SqlExtError) as refused:
        project("SHOW TABLES;\nSELECT x FROM nowhere;\n").rename("a.sql", 30, "b")
    assert refused.value.code == "NAME-091"
