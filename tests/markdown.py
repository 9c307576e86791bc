"""The pages of the project as text: their prose, their blocks, their links, the files that they name."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "sqlext" / "dialect" / "emit" / "EMIT.md",
    ROOT / "tests" / "conformance" / "README.md",
]
#: Top folders: a name in backticks that begins with one is a file of the project.
FOLDERS = ("sqlext/", "udfs/", "catalog/", "tests/", "docs/", "tools/", "sql_examples/")
_FENCED = re.compile(r"^( *)```(\w*)([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:^    .*\n|^\n(?=    ))+", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_NO_PROSE = re.compile(r"#|\||:::|!!! |!\[|---")
_ITEM = re.compile(r"\s*(?:[-*]|\d+\.)\s+")
_CODE = re.compile(r"``.+?``|`[^`]*`", re.DOTALL)
_ADDRESS = re.compile(r"\]\([^)]*\)")
_LINK = re.compile(r"\]\(((?!https?:)[^)#\s]*)(?:#([^)\s]+))?\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?])[*)\"']*\s+(?=\S)")


class Block(NamedTuple):
    """A fenced block of code: its language, the words behind it, its text."""

    language: str
    words: str
    text: str


def shown(page: Path) -> str:
    """Return how a page is called in messages."""
    return str(page.relative_to(ROOT))


def blocks(text: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    return (Block(language, words.strip(), textwrap.dedent(body)) for _, language, words, body in _FENCED.findall(text))


def indented(text: str) -> Iterator[str]:
    """Yield the blocks of a page that are code by their indentation."""
    outside = re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.MULTILINE | re.DOTALL)
    yield from (textwrap.dedent(found) for found in _INDENTED.findall(outside))


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs and list items of a page, without headings, tables and code."""
    gathered: list[str] = []
    for line in [*_COMMENT.sub("", _FENCED.sub("\n", text)).splitlines(), ""]:
        item = _ITEM.match(line)
        code = line.startswith("    ") and not gathered and not item
        begins = item or not line.strip() or _NO_PROSE.match(line)
        if begins and gathered:
            yield " ".join(gathered)
            gathered = []
        if item:
            gathered = [line[item.end() :]]
        elif not begins and not code:
            gathered.append(line.strip())


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a page; a piece of code is one word, a link is its text."""
    for paragraph in paragraphs(text):
        yield from _SENTENCE_END.split(_CODE.sub("`code`", _ADDRESS.sub("]", paragraph)))


def cells(text: str) -> Iterator[str]:
    """Yield the sentences in the cells of a page's tables, as ``sentences`` does of its prose."""
    for line in _FENCED.sub("\n", text).splitlines():
        if line.startswith("|"):
            for cell in line.split("|"):
                yield from _SENTENCE_END.split(_CODE.sub("`code`", _ADDRESS.sub("]", cell)))


def word_count(sentence: str) -> int:
    """Count the words of a sentence."""
    return sum(1 for word in sentence.split() if re.search(r"\w", word))


def links(text: str) -> list[tuple[str, str]]:
    """Return the links of a page that lead into the project: file and heading."""
    return _LINK.findall(_CODE.sub("", _FENCED.sub("", text)))


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    titles = _HEADING.findall(_FENCED.sub("", page.read_text("utf-8")))
    return {re.sub(r"[^\w -]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", t)).lower().replace(" ", "-") for t in titles}


def files_named(text: str) -> set[str]:
    """Return the files and folders of the project that a page names in backticks."""
    pieces = {piece.strip("`").strip() for piece in _CODE.findall(_FENCED.sub("", text))}
    names = {piece for piece in pieces if re.fullmatch(r"[\w./-]+", piece)}
    return {name for name in names if name.startswith(FOLDERS) or re.fullmatch(r"[\w/-]+\.py", name)}
