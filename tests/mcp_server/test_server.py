"""``sqlext mcp`` answers a real client over pipes."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import CallToolResult, TextContent

from sqlext.session.state import SessionState
from sqlext_catalog.store import CatalogStore
from tests.kept_queries import KeptQuery, kept_query

ORDERS = """CREATE TABLE orders (
  item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'data', 'format' = 'json');
"""
WINDOWS = """SELECT item, COUNT(*) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY item, window_start, window_end;
"""


def ask(catalog: Path, session: Callable[[Client], Awaitable[None]], *options: str) -> None:
    """Run a session of an assistant."""

    async def run() -> None:
        arguments = ["-m", "sqlext.cli.main", "mcp", "--catalog", str(catalog), *options]
        started = StdioServerParameters(
            command=sys.executable, args=arguments, env=dict(os.environ), cwd=str(catalog.parent)
        )
        async with Client(started) as client:
            await session(client)

    asyncio.run(run())


def text(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


#: Scripts, and what a server says of them that nobody has allowed anything.
HOSTILE = {
    "CREATE TABLE t (k INT) WITH ('connector' = 'filesystem', 'path' = '/srv/t', 'format' = 'json');": "RESTRICT-002",
    "CREATE TABLE t (k INT) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'json',"
    " 'properties.bootstrap.servers' = 'evil:9092');": "RESTRICT-001",
    "SELECT reflect('java.lang.System', 'exit', 3);": "RESTRICT-007",
    "ADD JAR '/tmp/evil.jar';": "RESTRICT-006",
    "SELECT * FROM csv.`/etc/passwd`;": "NAME-002",
}


def define(catalog: Path) -> None:
    """Put the table into a catalog, as a run would."""
    from sqlext.dialect.script import parse_script
    from sqlext.session.interpreter import Interpreter
    from sqlext.session.offline.compilation import new_state
    from sqlext.session.offline.dry_run import DryRun
    from sqlext.source import SourceText

    state: SessionState = new_state(catalog)
    for statement in parse_script(SourceText.of(ORDERS)):
        Interpreter(state, DryRun(state)).run(statement)


def test_questions_about_a_catalog(tmp_path: Path) -> None:
    define(tmp_path)
    before = CatalogStore(tmp_path).snapshot().version

    async def session(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert {t.name for t in tools} == {"tables", "describe", "check", "plan", "watermarks", "why"}
        assert all(t.annotations is not None and t.annotations.read_only_hint for t in tools)
        tables = await client.call_tool("tables", {})
        assert text(tables) == "default_catalog.default_database.orders: table, filesystem"
        columns = text(await client.call_tool("describe", {"table": "orders"}))
        assert "ts\tTIMESTAMP(3) *ROWTIME*" in columns
        plan = text(await client.call_tool("plan", {"script": WINDOWS}))
        assert "watermark:       orders.ts: largest value - 10000 ms" in plan
        assert json.loads(text(await client.call_tool("check", {"script": WINDOWS}))) == []
        wrong = json.loads(text(await client.call_tool("check", {"script": "SELECT itm FROM orders;"})))
        assert [(e["code"], e["line"], e["column"], e["hint"]) for e in wrong] == [
            ("NAME-003", 1, 8, "did you mean `item`?")
        ]
        # What a script defines is not kept.
        made = ORDERS.replace("orders", "others")
        assert json.loads(text(await client.call_tool("check", {"script": made}))) == []
        assert await client.call_tool("tables", {}) == tables

    ask(tmp_path, session)
    assert CatalogStore(tmp_path).snapshot().version == before


def test_a_query_of_another_process(tmp_path: Path) -> None:
    kept = kept_query(tmp_path / "catalog", KeptQuery("q"), time.time_ns() // 1_000_000)

    async def session(client: Client) -> None:
        assert "orders" in text(await client.call_tool("watermarks", {"query": "q"}))
        assert "`orders` holds the query back" in text(await client.call_tool("why", {"query": "q"}))

    ask(kept.folder, session)


def test_refusals_have_code_and_hint(tmp_path: Path) -> None:
    define(tmp_path)

    async def session(client: Client) -> None:
        for tool, arguments, code in (
            ("describe", {"table": "ordres"}, "NAME-002"),
            ("plan", {"script": "SELECT itm FROM orders;"}, "NAME-003"),
            ("why", {"query": "nothing"}, "CAT-002"),
        ):
            refused = await client.call_tool(tool, arguments)
            assert refused.is_error
            assert code in text(refused)
        assert "did you mean `orders`?" in text(await client.call_tool("describe", {"table": "ordres"}))

    ask(tmp_path, session)


def test_scripts_are_sql_of_others(tmp_path: Path) -> None:
    catalog = tmp_path / "catalog"

    async def restricted(client: Client) -> None:
        for script, code in HOSTILE.items():
            found = json.loads(text(await client.call_tool("check", {"script": script})))
            assert [e["code"] for e in found] == [code]
            refused = await client.call_tool("plan", {"script": script})
            assert refused.is_error
            assert code in text(refused)
        assert json.loads(text(await client.call_tool("check", {"script": ORDERS + WINDOWS}))) == []

    async def allowed(client: Client) -> None:
        codes = {}
        for script in HOSTILE:
            found = json.loads(text(await client.call_tool("check", {"script": script})))
            codes[script] = [e["code"] for e in found if e["severity"] == "error"]
        assert list(codes.values())[:2] == [[], []]

    ask(catalog, restricted)
    ask(catalog, allowed, "--allow", "path=/srv/t", "--allow", "connector=kafka", "--allow", "host=evil:9092")
    ask(catalog, allowed, "--unrestricted")
