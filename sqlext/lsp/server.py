"""Serve the Language Server Protocol on standard input and output."""

from __future__ import annotations

import asyncio
import gc
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from sqlext.errors import SqlExtError
from sqlext.locations import beside
from sqlext.lsp.places import Places, name_of
from sqlext.policy import Restrictions, policy_of
from sqlext.session.editing.documents import DocumentFinding
from sqlext.session.editing.project import EditorProject, project_of, require_inside

EXPLAIN, REWRITE, RUN = "sqlext.explain", "sqlext.rewrite", "sqlext.run"
#: While a user types, findings are told after such a pause, in seconds.
_PAUSE = 0.2
#: Candidates in one answer: each costs time, and an editor asks again with more of the word.
_MOST_ITEMS = 150
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
}
_KINDS = {
    "keyword": types.CompletionItemKind.Keyword,
    "table": types.CompletionItemKind.Class,
    "database": types.CompletionItemKind.Module,
    "column": types.CompletionItemKind.Field,
    "function": types.CompletionItemKind.Function,
    "option": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.Value,
    "job": types.CompletionItemKind.Reference,
}


class _Question(Protocol):
    """A question about a place of a document."""

    text_document: types.TextDocumentIdentifier
    position: types.Position


@dataclass(frozen=True)
class ServerOptions:
    """What the server is started with; ``initializationOptions`` of the same names come first.

    Attributes:
        catalog: the folder or URL of the catalog.
        variables: values of ``${NAME}``.
        init: scripts whose tables and views all others see.
        run: whether the editor has the command ``sqlext.run``, which gets the document's URI.
    """

    catalog: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    init: Sequence[str] = ()
    run: bool = False

    def with_given(self, given: object) -> ServerOptions:
        """Return them with what an editor gives."""
        if not isinstance(given, Mapping):
            return self
        known = {k: given[k] for k in ("catalog", "variables", "init", "run") if given.get(k) is not None}
        return replace(self, **known)


class SqlServer(LanguageServer):
    """The server of one editor: its project and its documents."""

    project: EditorProject
    places: Places

    def __init__(self, options: ServerOptions, restricted: bool | Restrictions = True) -> None:
        super().__init__("sqlext", version("sqlext-spark"))
        self.options = options
        self._restricted = restricted
        self._telling: dict[str, asyncio.Task[None]] = {}
        self._settled: set[str] = set()
        # Plans that are shown lie here; the folder goes with the server.
        self._folder = tempfile.TemporaryDirectory(prefix="sqlext-lsp-")

    def begin(self, params: types.InitializeParams) -> None:
        """Make the project that the editor asks for."""
        started, options = self.options, self.options.with_given(params.initialization_options)
        self.options = options
        folders = [name_of(folder.uri) for folder in params.workspace_folders or ()]
        root = folders[0] if folders else (name_of(params.root_uri) if params.root_uri else None)
        self.places = Places(self.workspace)
        folder = Path(root) if root is not None else Path.cwd()
        # Relative to the project's folder, wherever the editor has started the server.
        init = [beside(folder, file) for file in options.init]
        catalog = None if options.catalog is None else beside(folder, options.catalog)
        policy = policy_of(self._restricted_to(folder))
        # What the command line names is the user's own; an editor gives what the project's settings say.
        given = [*([catalog] if catalog and options.catalog != started.catalog else [])]
        given += init if options.init != started.init else []
        try:
            require_inside(given, policy)
            self.project = project_of(catalog, options.variables, init, root, policy)
        except SqlExtError as error:
            self.project = project_of(variables=options.variables, policy=policy)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, str(error)))

    def _restricted_to(self, folder: Path) -> bool | Restrictions:
        if self._restricted is False:
            return False
        named = self._restricted if isinstance(self._restricted, Restrictions) else Restrictions()
        return named.within(folder)

    # Documents

    def take(self, uri: str) -> None:
        """Give a document's text to the project, and tell what is found in it."""
        name = self.places.opened(uri)
        self.project.open(name, self.places.document(name).source)
        for told in (name, *self.project.sees_changes_of(name)):
            self.tell(told)

    def tell(self, name: str) -> None:
        """Tell what is found in a document, after a pause in which no newer version came."""
        earlier = self._telling.get(name)
        if earlier is not None:
            earlier.cancel()
        self._telling[name] = asyncio.create_task(self._tell(name))

    def forget(self, uri: str) -> None:
        """Take a document's findings away."""
        name = name_of(uri)
        task = self._telling.pop(name, None)
        if task is not None:
            task.cancel()
        self.project.close(name)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    async def _tell(self, name: str) -> None:
        await asyncio.sleep(_PAUSE)
        document = self.project.document(name)
        for index in range(len(document)):
            # A question of the editor is answered between two statements.
            await asyncio.sleep(0)
            document.step(index)
        found = [self._diagnostic(name, finding) for finding in document.findings()]
        uri, text = self.places.uri_of(name), self.places.document(name)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, text.version))
        for _ in self.project.looked_through(name):
            await asyncio.sleep(0)
        self._settle(name)

    def _settle(self, name: str) -> None:
        """Let the collector of garbage leave out what is kept of a document: its rounds would be waited for."""
        if name not in self._settled:
            self._settled.add(name)
            gc.collect()
            gc.freeze()

    def _diagnostic(self, name: str, finding: DocumentFinding) -> types.Diagnostic:
        return types.Diagnostic(
            self.places.range(name, finding.start, finding.end),
            finding.message,
            _SEVERITIES[finding.severity],
            finding.code,
            source="sqlext",
        )

    def at(self, params: _Question) -> tuple[str, int]:
        """Return the document and the offset that a question is about."""
        name = name_of(params.text_document.uri)
        return name, self.places.offset(name, params.position)

    def show(self, title: str, text: str) -> str:
        """Show a text in the editor if it can show one, and return it."""
        window = self.client_capabilities.window
        if window is not None and window.show_document is not None and window.show_document.support:
            file = Path(self._folder.name) / title
            file.write_text(text, "utf-8")
            self.window_show_document(types.ShowDocumentParams(file.as_uri(), take_focus=True))
        return text


def server(options: ServerOptions, restricted: bool | Restrictions = True) -> SqlServer:
    """Return a server that is ready to be started.

    Args:
        restricted: what it may read beyond the project's folder; False for everything.
    """
    ls = SqlServer(options, restricted)
    _keep_documents(ls)
    _answer_words(ls)
    _answer_names(ls)
    _answer_queries(ls)
    return ls


def _keep_documents(ls: SqlServer) -> None:
    @ls.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        ls.begin(params)

    @ls.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def did_open(params: types.DidOpenTextDocumentParams) -> None:
        ls.take(params.text_document.uri)

    @ls.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: types.DidChangeTextDocumentParams) -> None:
        ls.take(params.text_document.uri)

    @ls.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def did_close(params: types.DidCloseTextDocumentParams) -> None:
        ls.forget(params.text_document.uri)


def _answer_words(ls: SqlServer) -> None:
    @ls.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[".", "'"], resolve_provider=True)
    )
    def completion(params: types.CompletionParams) -> types.CompletionList:
        name, offset = ls.at(params)
        candidates = ls.project.candidates(name, offset)
        ranges = {start: ls.places.range(name, start, offset) for start in {c.start for c in candidates}}
        items = []
        for number, found in enumerate(candidates[:_MOST_ITEMS]):
            edit = types.TextEdit(ranges[found.start], found.text)
            data = {"document": name, "kind": found.kind}
            kind, order = _KINDS[found.kind], f"{number:05}"
            items.append(
                types.CompletionItem(
                    found.text, kind=kind, detail=found.kind, text_edit=edit, sort_text=order, data=data
                )
            )
        return types.CompletionList(is_incomplete=len(candidates) > _MOST_ITEMS, items=items)

    @ls.feature(types.COMPLETION_ITEM_RESOLVE)
    def resolve(item: types.CompletionItem) -> types.CompletionItem:
        data: Any = item.data
        if isinstance(data, Mapping):
            text = ls.project.candidate_text(data["document"], item.label, data["kind"])
            item.documentation = _markdown(text) if text is not None else None
        return item

    @ls.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        name, offset = ls.at(params)
        found = ls.project.hover(name, offset)
        return types.Hover(_markdown(found.text), ls.places.range(name, found.start, found.end)) if found else None

    @ls.feature(types.TEXT_DOCUMENT_SIGNATURE_HELP, types.SignatureHelpOptions(trigger_characters=["(", ","]))
    def signatures(params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        calls = ls.project.calls(*ls.at(params))
        if calls is None:
            return None
        shown = [types.SignatureInformation(form) for form in calls.forms]
        return types.SignatureHelp(shown, active_signature=0, active_parameter=calls.argument)


def _answer_names(ls: SqlServer) -> None:
    @ls.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> list[types.Location]:
        return [ls.places.location(found) for found in ls.project.definition(*ls.at(params))]

    @ls.feature(types.TEXT_DOCUMENT_REFERENCES)
    def references(params: types.ReferenceParams) -> list[types.Location]:
        name, offset = ls.at(params)
        found = ls.project.references(name, offset)
        if not params.context.include_declaration:
            defined = ls.project.definition(name, offset)
            found = [place for place in found if place not in defined]
        return [ls.places.location(place) for place in found]

    @ls.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare_rename(params: types.PrepareRenameParams) -> types.Range | None:
        found = ls.project.name_at(*ls.at(params))
        return ls.places.range(found.document, found.start, found.end) if found is not None else None

    @ls.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def rename(params: types.RenameParams) -> types.WorkspaceEdit:
        try:
            new, found = ls.project.rename(*ls.at(params), params.new_name)
        except SqlExtError as error:
            raise JsonRpcInvalidParams(str(error)) from error
        return types.WorkspaceEdit(
            changes={
                ls.places.uri_of(name): [types.TextEdit(ls.places.range(name, r.start, r.end), new) for r in ranges]
                for name, ranges in found.items()
            }
        )


def _answer_queries(ls: SqlServer) -> None:
    @ls.feature(types.TEXT_DOCUMENT_CODE_LENS)
    def lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        uri = params.text_document.uri
        name, found = name_of(uri), []
        for place in ls.project.queries(name):
            where = ls.places.range(name, place.start, place.start)
            commands = [("Explain", EXPLAIN, [uri, place.index]), ("Rewrite", REWRITE, [uri, place.index])]
            if ls.options.run:
                commands.append(("Run", RUN, [uri]))
            found += [
                types.CodeLens(where, types.Command(title, command, arguments=args))
                for title, command, args in commands
            ]
        return found

    @ls.command(EXPLAIN)
    def explain(uri: str, index: int) -> str:
        return ls.show("plan.txt", ls.project.plan(name_of(uri), index))

    @ls.command(REWRITE)
    def rewrite(uri: str, index: int) -> str:
        return ls.show("spark.sql", ls.project.spark_sql(name_of(uri), index))


def _markdown(text: str) -> types.MarkupContent:
    return types.MarkupContent(types.MarkupKind.Markdown, text)
