"""The planted secrets of scripts come out of no face: editor, assistant, plans, commands. No Spark is started."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import sqlext
from sqlext.cli.main import main
from sqlext.errors import SqlExtError
from sqlext.mcp.server import Questions
from sqlext.session.editing.project import EditorProject, project_of

from .test_planted_secrets import BROKEN, PLANTED, found_in, options, script, secret

SINK = "CREATE TEMPORARY TABLE b (a INT) WITH ('connector' = 'print');"
QUERIES = "\n".join(f"INSERT INTO b SELECT a FROM {kind}{n};" for n in range(0, len(PLANTED), 9) for kind in "tv")
#: A job, and the same with statements that are wrong at a secret.
JOB = f"{script()}\n{SINK}\n{QUERIES}\n"
WRONG = JOB + "\n".join(text.replace("{}", option) for text in BROKEN[:3] for _, option in list(options())[::19])


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("faces") / "catalog"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sqlext.connect(catalog=place).run(script())
    return place


@pytest.fixture(scope="module")
def editor(catalog: Path) -> EditorProject:
    project = project_of(catalog, root=catalog.parent)
    project.open("job.sql", JOB)
    project.open("wrong.sql", WRONG)
    return project


def hovers(editor: EditorProject) -> Iterator[str]:
    places = [m.start() + 1 for m in re.finditer(r"\b[tuv]\d+\b|properties\.[\w.-]+|'[^']*c4n4ry[^']*'", JOB)]
    yield from (repr(editor.hover("job.sql", place)) for place in places[::31])


def candidates(editor: EditorProject) -> Iterator[str]:
    yield from (repr(editor.candidates("job.sql", m.end())) for m in list(re.finditer(r"FROM [tv]", JOB))[::9])
    for n in range(0, len(PLANTED), 5):
        yield repr(editor.candidate_text("job.sql", f"t{n}", "table"))
        yield repr(editor.candidate_text("job.sql", f"v{n}", "view"))


def lenses(editor: EditorProject) -> Iterator[str]:
    for n, place in enumerate(editor.queries("job.sql")):
        yield repr(place)
        for ask in (editor.plan, editor.spark_sql):
            try:
                yield ask("job.sql", n)
            except SqlExtError as error:
                yield error.render()


def findings(editor: EditorProject) -> Iterator[str]:
    yield from (repr(finding) for name in ("job.sql", "wrong.sql") for finding in editor.findings(name))


@pytest.mark.parametrize("shown", [hovers, candidates, lenses, findings])
def test_an_editor(editor: EditorProject, shown: object) -> None:
    assert callable(shown)
    texts = list(shown(editor))
    assert len(texts) > 5
    assert found_in("\n".join(texts)) == []


def test_an_assistant(catalog: Path) -> None:
    asked = Questions(str(catalog), {}, restricted=False)
    texts = [asked.tables(), asked.check(JOB), asked.check(WRONG), repr(asked)]
    texts += [asked.describe(f"{kind}{n}") for kind in "tv" for n in range(0, len(PLANTED), 5)]
    for wrong in (JOB, *(text.replace("{}", option) for text in BROKEN for _, option in list(options())[::37])):
        try:
            texts.append(asked.plan(wrong))
        except SqlExtError as error:
            texts.append(error.render())
    assert found_in("\n".join(texts)) == []


@pytest.mark.parametrize(
    "command",
    [
        ("check",),
        ("check", "--format", "json"),
        ("explain",),
        ("explain", "--format", "json"),
        ("explain", "--format", "mermaid"),
        ("plan",),
        ("plan", "--format", "json"),
        ("rewrite",),
        ("rewrite", "--target", "spark-sql"),
        ("rewrite", "--target", "databricks"),
    ],
    ids=" ".join,
)
def test_a_command(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "job.sql").write_text(WRONG if command == ("check", "--format", "json") else JOB, "utf-8")
    done = CliRunner().invoke(main, [command[0], str(tmp_path / "job.sql"), *command[1:]])
    assert len(done.output) > 100
    assert found_in(f"{done.output}\n{done.stderr}\n{done.exception!r}") == []


def test_what_a_traceback_shows(tmp_path: Path) -> None:
    """Of an error's causes as of itself: Python prints them all."""
    session = sqlext.connect(settings={"sqlext.engine": "local"})
    files = f"WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}')"
    session.run(f"CREATE TABLE t (k STRING) {files};")
    for text in (f"CAST('password={secret(0)}' AS INT)", f"REFLECT('sk-{secret(0)}')", f"'token={secret(0)}' RLIKE k"):
        with pytest.raises(SqlExtError) as refused:
            session.run(f"SELECT {text} AS x FROM t;")
        error: BaseException | None = refused.value
        while error is not None:
            assert found_in(f"{error}\n{error!r}") == []
            error = error.__cause__


def test_the_history_of_the_prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file has none; whoever typed one goes on to find it with the arrow key."""
    from sqlext.cli.shell.prompt import _history

    file = tmp_path / "history"
    monkeypatch.setenv("SQLEXT_HISTORY", str(file))
    history = _history()
    for statement in [*JOB.split(";"), *(text.replace("{}", options_) for text in BROKEN for _, options_ in options())]:
        history.append_string(statement)
    assert found_in(file.read_text("utf-8")) == []
    assert "properties.password" in file.read_text("utf-8")
    assert found_in("\n".join(history.get_strings())) == found_in(JOB)


def test_a_notebook(tmp_path: Path) -> None:
    """What cells keep in the notebook's file: results, plans as text and pictures, errors."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    from sqlext.notebook.magics import SqlextMagics, load

    shell = InteractiveShell()
    load(shell)
    magics = shell.magics_manager.registry["SqlextMagics"]
    assert isinstance(magics, SqlextMagics)
    magics.sqlext_catalog(str(tmp_path / "catalog"))
    shows = "".join(f"SHOW CREATE TABLE t{n}; SHOW CREATE VIEW v{n};" for n, _ in options())
    cells = [f"%%sqlext\n{script()}", f"%%sqlext\n{shows} SET; DESCRIBE t0; SHOW TABLES;"]
    shell.user_ns["held"] = secret(0)
    variable = "CREATE TABLE held (a INT) WITH ('connector' = 'kafka', 'properties.password' = '${held}');"
    cells += [f"%%sqlext --variable held\n{variable}\nSHOW CREATE TABLE held;"]
    cells += [f"%%sqlext_explain\n{SINK}\n{QUERIES}", f"%%sqlext_plan\n{SINK}\n{QUERIES}"]
    cells += [f"%%sqlext\n{text.replace('{}', options_)}" for text in BROKEN for _, options_ in list(options())[::13]]
    shown, failed = [], 0
    for cell in cells:
        with warnings.catch_warnings(), capture_output() as captured:
            warnings.simplefilter("ignore")
            done = shell.run_cell(cell)
        shown += [captured.stdout, captured.stderr, repr(done.result)]
        shown += [repr(output.data) for output in captured.outputs]
        failed += done.error_in_exec is not None
    assert failed == len(BROKEN) * len(list(options())[::13])
    assert "******" in "\n".join(shown)
    assert found_in("\n".join(shown)) == []
