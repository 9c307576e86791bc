"""Read statements at a prompt with history, completion and colours."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.styles import Style

from sqlext.cli.shell.commands import Leave, command, words
from sqlext.cli.shell.runner import Shell
from sqlext.secrets import redact_text
from sqlext.session.api import Session
from sqlext.session.offline.editor import Editor
from sqlext_catalog.model import DEFAULT_DATABASE

_STYLE = Style.from_dict(
    {
        "keyword": "ansiblue bold",
        "function": "ansicyan",
        "string": "ansigreen",
        "number": "ansimagenta",
        "comment": "ansibrightblack italic",
        "bottom-toolbar": "noreverse ansibrightblack",
    }
)


def interact(shell: Shell) -> None:
    """Read and run statements until the user leaves."""
    click.echo(f"sqlext {version('sqlext-spark')}: statements end with ;   .help says more")
    prompt = _prompt(shell.session)
    while True:
        shell.tell_of_failed_jobs()
        try:
            text = prompt.prompt(lambda: _before(shell.session))
            _take(text, shell)
        except KeyboardInterrupt:
            continue
        except (EOFError, Leave):
            return


def _take(text: str, shell: Shell) -> None:
    action = command(text)
    if action is not None:
        action(shell)
    elif text.strip():
        shell.run(text + "\n")  # a line that ends in .sql would be a file's name


def _before(session: Session) -> str:
    database = session.catalog.current_database
    return "sqlext> " if database == DEFAULT_DATABASE else f"sqlext ({database})> "


def _prompt(session: Session) -> PromptSession[str]:
    return PromptSession(
        history=_history(),
        multiline=True,
        prompt_continuation=lambda width, line, wrapped: "-> ".rjust(width),
        lexer=_Colours(session.editor),
        completer=_Names(session.editor),
        # Candidates come from the catalog's files: on Tab, not with each key.
        complete_while_typing=False,
        auto_suggest=AutoSuggestFromHistory(),
        key_bindings=_keys(lambda text: command(text) is not None or session.editor.is_complete(text)),
        bottom_toolbar=lambda: _running(session),
        style=_STYLE,
        enable_open_in_editor=True,
    )


def _history() -> History:
    """Return the history in the user's home, or in the file that SQLEXT_HISTORY names; in memory if it is no file."""
    file = Path(os.environ.get("SQLEXT_HISTORY") or Path.home() / ".sqlext_history")
    try:
        # What people ask for is theirs alone.
        file.touch(mode=0o600)
    except OSError:
        # The home may be read-only, as in a container.
        return InMemoryHistory()
    return _WithoutSecrets(file)


class _WithoutSecrets(FileHistory):
    """Writes no secret into the file; the prompt itself goes on to offer what was typed into it."""

    def store_string(self, string: str) -> None:
        """Append a statement to the file."""
        super().store_string(redact_text(string))


def _running(session: Session) -> str | None:
    names = [query.name for query in session.queries]
    return f"running: {', '.join(names)}" if names else None


def _keys(complete: Callable[[str], bool]) -> KeyBindings:
    """Let Enter take a completion, run a text that is complete, and begin a line in any other."""
    keys = KeyBindings()

    @keys.add("enter")
    def enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None
        elif complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return keys


class _Names(Completer):
    """Asks the session what could stand at the cursor."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Return the candidates."""
        at = document.cursor_position
        for word in words(document.text):
            yield Completion(word, -at, display_meta="command")
        for candidate in self._editor.candidates(document.text, at):
            yield Completion(candidate.text, candidate.start - at, display_meta=candidate.kind)


class _Colours(Lexer):
    """Asks the session for the pieces of a text."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """Return the coloured pieces of each line."""
        lines = list(self._lines(document.text))
        return lambda number: lines[number] if number < len(lines) else []

    def _lines(self, text: str) -> Iterator[StyleAndTextTuples]:
        line: StyleAndTextTuples = []
        for piece in self._editor.pieces(text):
            first, *others = piece.text.split("\n")
            line.append((f"class:{piece.kind}", first))
            for other in others:
                yield line
                line = [(f"class:{piece.kind}", other)]
        yield line
