"""A real client of the language server, over pipes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
from lsprotocol import types
from pygls.lsp.client import LanguageClient


class Editor:
    """An editor that has started ``sqlext lsp``, and what it was told."""

    def __init__(self) -> None:
        self.client = LanguageClient("tests", "1")
        self.told: dict[str, types.PublishDiagnosticsParams] = {}
        self.shown: list[str] = []
        self.said: list[str] = []
        self._news = asyncio.Event()
        self._versions: dict[str, int] = {}

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def diagnostics(params: types.PublishDiagnosticsParams) -> None:
            self.told[params.uri] = params
            self._news.set()

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        def say(params: types.ShowMessageParams) -> None:
            self.said.append(params.message)

        @self.client.feature(types.WINDOW_SHOW_DOCUMENT)
        def show(params: types.ShowDocumentParams) -> types.ShowDocumentResult:
            self.shown.append(params.uri)
            return types.ShowDocumentResult(success=True)

    async def start(self, root: Path, *arguments: str, options: Mapping[str, Any] | None = None) -> None:
        """Start the server in a folder."""
        command = [sys.executable, "-m", "sqlext.cli.main", "lsp", *arguments]
        await self.client.start_io(*command, cwd=str(root))
        window = types.WindowClientCapabilities(show_document=types.ShowDocumentClientCapabilities(support=True))
        await self.client.initialize_async(
            types.InitializeParams(
                types.ClientCapabilities(window=window), root_uri=root.as_uri(), initialization_options=options
            )
        )
        self.client.initialized(types.InitializedParams())

    def processor_seconds(self) -> float:
        """Return the processor time that the server has used."""
        assert self.client._server is not None
        used = psutil.Process(self.client._server.pid).cpu_times()
        return used.user + used.system

    async def stop(self) -> None:
        """End the server."""
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()

    def open(self, uri: str, text: str) -> None:
        """Open a document."""
        self._versions[uri] = 1
        item = types.TextDocumentItem(uri, "sql", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, uri: str, text: str) -> None:
        """Give another version of a document."""
        self._versions[uri] += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self._versions[uri], uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    async def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        """Return what is told of the newest version of a document."""
        while uri not in self.told or self.told[uri].version != self._versions[uri]:
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), 60)
        return list(self.told[uri].diagnostics)


def at(text: str, marked: str, *, inside: int = 0) -> types.Position:
    """Return where the first occurrence of some characters stands; the texts of the tests are ASCII."""
    before = text[: text.index(marked) + inside]
    return types.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)


def document(uri: str) -> types.TextDocumentIdentifier:
    """Return a document as questions name it."""
    return types.TextDocumentIdentifier(uri)
