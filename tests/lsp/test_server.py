"""``sqlext lsp`` answers a real client over pipes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.lsp.client import Editor, at, document

_FOLDER = Path(__file__).parents[2] / "sql_examples"
#: Not those of dbt, which are templates.
EXAMPLES = sorted(_FOLDER.glob("*.sql"))
NEXMARK = sorted((_FOLDER / "nexmark").glob("q*.sql"))
ORDERS = """CREATE TABLE orders (
  item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');
"""
QUERIES = """CREATE VIEW big AS SELECT item, CAST(ts AS TIMESTAMP(3)) AS at_time, amount FROM orders WHERE amount > 2;
SELECT item, SUM(amount) AS total FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY item, window_start, window_end EMIT AFTER WATERMARK EARLY EVERY 2 ROWS;
SELECT b.amount, b.at_time FROM big AS b;
"""
SCRIPT = ORDERS + QUERIES


def edit(folder: Path, session: Callable[[Editor], Awaitable[None]], *arguments: str, **options: object) -> None:
    """Run a session of an editor whose project is a folder."""

    async def run() -> None:
        editor = Editor()
        await editor.start(folder, *arguments, options=options)
        try:
            await session(editor)
        finally:
            await editor.stop()

    asyncio.run(run())


def spans(found: object) -> list[tuple[int, int, int]]:
    """Return line, first and last character of locations or edits."""
    assert isinstance(found, list | tuple)
    return [(r.range.start.line, r.range.start.character, r.range.end.character) for r in found]


@pytest.mark.parametrize(
    ("examples", "init"), [(EXAMPLES, []), (NEXMARK, [str(_FOLDER / "nexmark" / "tables.sql")])], ids=["all", "nexmark"]
)
def test_examples_have_no_errors(examples: list[Path], init: list[str], tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        for example in examples:
            editor.open(example.as_uri(), example.read_text("utf-8"))
        for example in examples:
            told = await editor.diagnostics(example.as_uri())
            errors = [d for d in told if d.severity is types.DiagnosticSeverity.Error]
            assert errors == [], example.name

    assert len(examples) > 20
    edit(tmp_path, session, "--unrestricted", init=init)


def test_diagnostics_have_positions_codes_and_severities(tmp_path: Path) -> None:
    uri = (tmp_path / "a.sql").as_uri()
    text = SCRIPT + "SELECT itm FROM orders;\nSELECT item, COUNT(*) FROM orders GROUP BY item;\n"

    async def session(editor: Editor) -> None:
        editor.open(uri, text)
        told = {d.code: d for d in await editor.diagnostics(uri)}
        assert set(told) == {"NAME-001", "NAME-003", "WARN-001"}
        wrong = told["NAME-003"]
        assert (wrong.range.start, wrong.range.end) == (at(text, "itm"), at(text, "itm", inside=3))
        assert wrong.message == "there is no column `itm`\nhint: did you mean `item`?"
        severities = [told[code].severity for code in sorted(told)]
        kinds = types.DiagnosticSeverity
        assert severities == [kinds.Information, kinds.Error, kinds.Warning]
        editor.change(uri, text.replace("itm", "item"))
        assert {d.code for d in await editor.diagnostics(uri)} == {"NAME-001", "WARN-001"}

    edit(tmp_path, session)


def test_a_definition_that_comes_back_heals_its_queries(tmp_path: Path) -> None:
    uri = (tmp_path / "a.sql").as_uri()

    async def session(editor: Editor) -> None:
        editor.open(uri, SCRIPT)
        await editor.diagnostics(uri)
        editor.change(uri, SCRIPT.replace("amount DOUBLE", "amont DOUBLE"))
        assert {d.code for d in await editor.diagnostics(uri)} == {"NAME-001", "NAME-003"}
        editor.change(uri, SCRIPT)
        assert {d.code for d in await editor.diagnostics(uri)} == {"NAME-001"}

    edit(tmp_path, session)


#: Words, the character that is meant, and what is said of it.
HOVERS = [
    ("ts TIMESTAMP", 0, "It is a time attribute: event time. Its watermark is ts - INTERVAL '10' SECOND."),
    ("DESCRIPTOR(ts)", 11, "ts TIMESTAMP(3) *ROWTIME*"),
    ("b.at_time", 3, "It stopped being a time attribute at `CAST(ts AS TIMESTAMP(3))` of view big"),
    ("WATERMARK EARLY", 2, "when the watermark passes the window's end, before that every 2 rows."),
    ("'path'", 2, "The folder or URL of the table."),
    ("TUMBLE", 1, "TUMBLE(TABLE t, DESCRIPTOR(ts), size, [offset])"),
    ("SUM(", 1, "SUM(numeric)"),
    ("orders WHERE", 1, "| amount | DOUBLE |"),
    ("big AS b", 1, "view `default_catalog.default_database.big`"),
]


def test_hovers(tmp_path: Path) -> None:
    uri = (tmp_path / "a.sql").as_uri()

    async def session(editor: Editor) -> None:
        editor.open(uri, SCRIPT)
        for word, inside, expected in HOVERS:
            asked = types.HoverParams(document(uri), at(SCRIPT, word, inside=inside))
            hover = await editor.client.text_document_hover_async(asked)
            assert hover is not None
            assert isinstance(hover.contents, types.MarkupContent)
            assert expected in hover.contents.value

    edit(tmp_path, session)


def test_definitions_references_and_rename(tmp_path: Path) -> None:
    uri = (tmp_path / "a.sql").as_uri()

    async def session(editor: Editor) -> None:
        editor.open(uri, SCRIPT)
        client = editor.client

        async def defined(word: str, inside: int = 0) -> object:
            where = at(SCRIPT, word, inside=inside)
            return spans(await client.text_document_definition_async(types.DefinitionParams(document(uri), where)))

        assert await defined("orders WHERE") == [(0, 13, 19)]
        assert await defined("big AS b") == [(4, 12, 15)]
        assert await defined("b.amount", 2) == [(1, 15, 21)]
        assert await defined("b.at_time", 2) == [(4, 60, 67)]
        assert await defined("window_start") == []
        where = at(SCRIPT, "amount DOUBLE")
        context = types.ReferenceContext(include_declaration=False)
        found = await client.text_document_references_async(types.ReferenceParams(context, document(uri), where))
        assert spans(found) == [(4, 69, 75), (4, 94, 100), (5, 17, 23), (7, 9, 15)]
        asked = types.RenameParams(document(uri), where, "price")
        renamed = await client.text_document_rename_async(asked)
        assert renamed is not None
        assert renamed.changes is not None
        assert spans(renamed.changes[uri]) == [(1, 15, 21), *spans(found)]
        assert {edit.new_text for edit in renamed.changes[uri]} == {"price"}

    edit(tmp_path, session)


def test_positions_are_those_of_the_editor(tmp_path: Path) -> None:
    """Positions count UTF-16: a character beyond the basic plane counts twice."""
    uri = (tmp_path / "a.sql").as_uri()
    text = ORDERS + "SELECT '\U0001f600', itm FROM orders;"

    async def session(editor: Editor) -> None:
        editor.open(uri, text)
        told = next(d for d in await editor.diagnostics(uri) if d.code == "NAME-003")
        assert (told.range.start.character, told.range.end.character) == (13, 16)

    edit(tmp_path, session)


def test_a_rename_that_would_break_a_script_is_refused(tmp_path: Path) -> None:
    uri = (tmp_path / "a.sql").as_uri()

    async def session(editor: Editor) -> None:
        editor.open(uri, SCRIPT)
        asked = types.RenameParams(document(uri), at(SCRIPT, "amount DOUBLE"), "item")
        with pytest.raises(JsonRpcException, match="NAME-091"):
            await editor.client.text_document_rename_async(asked)

    edit(tmp_path, session)


def test_scripts_share_the_definitions_of_another(tmp_path: Path) -> None:
    tables, first, second = (tmp_path / name for name in ("tables.sql", "first.sql", "second.sql"))
    tables.write_text(ORDERS, "utf-8")
    first.write_text("SELECT item FROM orders;\n", "utf-8")
    second.write_text("SELECT amount FROM orders;\n", "utf-8")

    async def session(editor: Editor) -> None:
        editor.open(first.as_uri(), first.read_text("utf-8"))
        assert await editor.diagnostics(first.as_uri()) == []
        where = types.RenameParams(document(first.as_uri()), at("SELECT item FROM orders;", "orders"), "sales")
        renamed = await editor.client.text_document_rename_async(where)
        assert renamed is not None
        assert renamed.changes is not None
        assert {uri: spans(edits) for uri, edits in renamed.changes.items()} == {
            tables.as_uri(): [(0, 13, 19)],
            first.as_uri(): [(0, 17, 23)],
            second.as_uri(): [(0, 19, 25)],
        }
        # Typing in the shared script is seen by the others.
        editor.open(tables.as_uri(), ORDERS.replace("item STRING", "thing STRING"))
        editor.change(first.as_uri(), first.read_text("utf-8") + "\n")
        assert [d.code for d in await editor.diagnostics(first.as_uri())] == ["NAME-003"]

    edit(tmp_path, session, init=["tables.sql"])


def test_completion_and_its_documentation(tmp_path: Path) -> None:
    uri = (tmp_path / "a.sql").as_uri()

    async def session(editor: Editor) -> None:
        async def offered(text: str) -> dict[str, types.CompletionItem]:
            editor.change(uri, SCRIPT + text)
            where = at(SCRIPT + text, text, inside=len(text))
            found = await editor.client.text_document_completion_async(types.CompletionParams(document(uri), where))
            assert isinstance(found, types.CompletionList)
            return {item.label: item for item in found.items}

        async def documentation(item: types.CompletionItem) -> str:
            resolved = await editor.client.completion_item_resolve_async(item)
            assert isinstance(resolved.documentation, types.MarkupContent)
            return resolved.documentation.value

        editor.open(uri, SCRIPT)
        tables = await offered("SELECT item FROM or")
        assert "| amount | DOUBLE |" in await documentation(tables["orders"])
        assert {"item", "amount", "ts"} <= set(await offered("SELECT item FROM orders AS o WHERE o."))
        functions = await offered("SELECT CONC")
        assert "CONCAT(" in await documentation(functions["CONCAT"])
        options = await offered("CREATE TABLE x (a INT) WITH ('connector' = 'filesystem', 'pa")
        assert "The folder or URL" in await documentation(options["path'"])
        assert "streaming'" in await offered("SET 'execution.runtime-mode' = '")
        # A long list is cut, and an editor asks again with more of the word.
        text = f"{SCRIPT}SELECT "
        editor.change(uri, text)
        everything = await editor.client.text_document_completion_async(
            types.CompletionParams(document(uri), at(f"{text}\0", "\0"))
        )
        assert isinstance(everything, types.CompletionList)
        assert everything.is_incomplete
        assert everything.items[0].label == "item"
        assert len(everything.items) < 200
        edits = tables["orders"].text_edit
        assert isinstance(edits, types.TextEdit)
        assert edits.new_text == "orders"
        assert edits.range.end.character - edits.range.start.character == len("or")

    edit(tmp_path, session)


def test_signatures(tmp_path: Path) -> None:
    uri = (tmp_path / "a.sql").as_uri()
    text = "SELECT SUBSTRING(item, 1"

    async def session(editor: Editor) -> None:
        editor.open(uri, text)
        asked = types.SignatureHelpParams(document(uri), at(text, text, inside=len(text)))
        found = await editor.client.text_document_signature_help_async(asked)
        assert found is not None
        assert found.active_parameter == 1
        assert found.signatures[0].label.startswith("SUBSTRING(text")

    edit(tmp_path, session)


def test_lenses_explain_and_rewrite(tmp_path: Path) -> None:
    uri = (tmp_path / "a.sql").as_uri()

    async def session(editor: Editor) -> None:
        editor.open(uri, SCRIPT)
        lenses = await editor.client.text_document_code_lens_async(types.CodeLensParams(document(uri)))
        assert lenses is not None
        commands = [lens.command for lens in lenses if lens.command is not None]
        titles = [(lens.range.start.line, c.title) for lens, c in zip(lenses, commands, strict=True)]
        assert titles == [(5, "Explain"), (5, "Rewrite"), (5, "Run"), (7, "Explain"), (7, "Rewrite"), (7, "Run")]
        for command, expected in zip(commands[:2], ("EMIT AFTER WATERMARK", "SELECT"), strict=True):
            asked = types.ExecuteCommandParams(command.command, list(command.arguments or ()))
            text = await editor.client.workspace_execute_command_async(asked)
            assert isinstance(text, str)
            assert expected in text
            await asyncio.wait_for(_shown(editor, text), 30)

    async def _shown(editor: Editor, text: str) -> None:
        while not editor.shown:
            await asyncio.sleep(0)
        assert Path(unquote(urlsplit(editor.shown.pop()).path)).read_text("utf-8") == text

    edit(tmp_path, session, run=True)


def test_broken_text_kills_nothing(tmp_path: Path) -> None:
    chance = random.Random(28)

    async def session(editor: Editor) -> None:
        for number, example in enumerate(EXAMPLES):
            uri, text = (tmp_path / f"{number}.sql").as_uri(), example.read_text("utf-8")
            editor.open(uri, "")
            for _ in range(3):
                cut = text[: chance.randrange(len(text))]
                editor.change(uri, cut)
                where = at(cut + "\0", "\0")
                completion = types.CompletionParams(document(uri), where)
                assert await editor.client.text_document_completion_async(completion) is not None
                await editor.client.text_document_hover_async(types.HoverParams(document(uri), where))
                await editor.client.text_document_definition_async(types.DefinitionParams(document(uri), where))
            editor.change(uri, text)
        for number in range(len(EXAMPLES)):
            told = await editor.diagnostics((tmp_path / f"{number}.sql").as_uri())
            assert [d for d in told if d.severity is types.DiagnosticSeverity.Error] == []

    edit(tmp_path, session)


def test_variables_and_catalog_of_the_command_line(tmp_path: Path) -> None:
    uri = (tmp_path / "a.sql").as_uri()

    async def session(editor: Editor) -> None:
        editor.open(uri, SCRIPT + "SELECT ${N} FROM orders;\n")
        assert {(d.code, d.severity) for d in await editor.diagnostics(uri)} == {
            ("NAME-001", types.DiagnosticSeverity.Error)
        }

    edit(tmp_path, session, "-d", "IN=data", "--catalog", "cat")
    assert not (tmp_path / "cat").exists()


@pytest.mark.parametrize("place", ["hdfs://n/x", "dbfs:/x"])
def test_a_catalog_where_none_can_lie(place: str, tmp_path: Path) -> None:
    """It is refused, and is no folder of the project."""
    uri = (tmp_path / "a.sql").as_uri()

    async def session(editor: Editor) -> None:
        editor.open(uri, SCRIPT)
        await editor.diagnostics(uri)
        assert [("CAT-038" in said, place in said) for said in editor.said] == [(True, True)]

    edit(tmp_path, session, "-d", "IN=data", "--catalog", place)


@pytest.mark.parametrize("arguments", [(), ("--allow", "path={outside}"), ("--unrestricted",)])
def test_settings_of_a_project_name_nothing_outside_of_it(arguments: tuple[str, ...], tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    project.mkdir()
    outside.mkdir()
    (outside / "tables.sql").write_text(ORDERS, "utf-8")
    (project / "tables.sql").symlink_to(outside / "tables.sql")
    uri = (project / "a.sql").as_uri()

    async def session(editor: Editor) -> None:
        editor.open(uri, "SELECT item FROM orders;\n")
        codes = [d.code for d in await editor.diagnostics(uri)]
        assert codes == ([] if arguments else ["NAME-002"])
        assert ["RESTRICT-011" in said for said in editor.said] == ([] if arguments else [True])

    edit(project, session, *(a.format(outside=outside) for a in arguments), init=["tables.sql"])


def test_the_command_line_is_the_users_own(tmp_path: Path) -> None:
    project, tables = tmp_path / "project", tmp_path / "tables.sql"
    project.mkdir()
    tables.write_text(ORDERS, "utf-8")
    uri = (project / "a.sql").as_uri()

    async def session(editor: Editor) -> None:
        editor.open(uri, "SELECT item FROM orders;\n")
        assert await editor.diagnostics(uri) == []

    edit(project, session, "-i", str(tables), "--catalog", str(tmp_path / "catalog"))


def test_nothing_is_said_of_models_of_dbt(tmp_path: Path) -> None:
    models = sorted((_FOLDER / "dbt" / "models").glob("*.sql"))

    async def session(editor: Editor) -> None:
        for model in models:
            editor.open(model.as_uri(), model.read_text("utf-8"))
            assert await editor.diagnostics(model.as_uri()) == []
            asked = types.CodeLensParams(document(model.as_uri()))
            assert not await editor.client.text_document_code_lens_async(asked)
        # Braces of SQL are none of a template.
        uri = (tmp_path / "a.sql").as_uri()
        editor.open(uri, "SELECT '{{1}}', a FROM nothing;")
        assert [d.code for d in await editor.diagnostics(uri)] == ["NAME-002"]

    assert models
    edit(tmp_path, session)
