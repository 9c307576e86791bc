"""Define ``sqlext init`` and ``sqlext examples``: files that come with the package, copied to where they can be run."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import click

import sqlext
from sqlext.cli.messages import tell
from sqlext.errors import SqlExtError
from sqlext.locations import local_file

_PACKAGE = Path(sqlext.__file__).parent
_STARTERS = _PACKAGE / "starters"
#: What one does next, by the kind of project.
_NEXT = {
    "script": (
        "sqlext check orders.sql -d IN=data -d OUT=out",
        "sqlext run orders.sql -d IN=data -d OUT=out",
        "sqlext test .",
    ),
    "notebook": ("pip install 'sqlext-spark[local,notebook]' jupyterlab", "jupyter lab orders.ipynb"),
    "dbt": ("pip install 'sqlext-spark[dbt]'", "dbt build"),
}
#: Files and folders that a project's own tools leave behind.
_LEFT_BEHIND = frozenset({"__pycache__", ".sqlext", ".spark", "logs", "target", ".user.yml"})


@click.command()
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option("--dbt", "kind", flag_value="dbt", help="A project of dbt: sources, models and a profile.")
@click.option("--notebook", "kind", flag_value="notebook", help="A notebook of Jupyter.")
def init(folder: Path, kind: str | None) -> None:
    """Make a small project that runs: a script, its data, and the rows that are expected."""
    kind = kind or "script"
    source = examples_folder() / "dbt" if kind == "dbt" else _STARTERS / kind
    try:
        made = copied(_files(source), local_file(folder, "a project"))
    except SqlExtError as error:
        tell(error)
        raise SystemExit(1) from None
    for file in made:
        click.echo(file)
    _print_next(folder, _NEXT[kind])


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Copy all of them.")
@click.option("--to", "folder", default=".", show_default=True, type=click.Path(path_type=Path), metavar="DIR")
def examples(names: Sequence[str], every: bool, folder: Path) -> None:
    """List the examples; or copy those named, by number or name, with their data and the rows that they give."""
    found = {script.stem: script for script in sorted(examples_folder().glob("*.sql"))}
    if not names and not every:
        for stem, script in found.items():
            click.echo(f"{stem}  {_first_line(script)}")
        click.echo("\nsqlext examples NAME copies one, for instance: sqlext examples 04")
        return
    chosen = list(found.values()) if every else [_chosen(name, found) for name in names]
    try:
        made = copied(_with_data(chosen), local_file(folder, "an example"))
    except SqlExtError as error:
        tell(error)
        raise SystemExit(1) from None
    for file in made:
        click.echo(file)
    _print_next(folder, (f"sqlext run {chosen[0].name} -d IN=data -d OUT=out", f"sqlext test {chosen[0].name}"))


def examples_folder() -> Path:
    """Return where the examples lie: in the installed package, or beside it in the project's own folder."""
    installed = _PACKAGE / "examples"
    return installed if installed.is_dir() else _PACKAGE.parent / "sql_examples"


def _print_next(folder: Path, commands: Iterable[str]) -> None:
    click.echo("\nnext:")
    for command in (*([] if folder == Path() else [f"cd {shlex.quote(str(folder))}"]), *commands):
        click.echo(f"  {command}")


def copied(files: Mapping[Path, Path], folder: Path) -> list[Path]:
    """Copy files into a folder and return their places; nothing is copied if one cannot be.

    Args:
        files: by their places within the folder.

    Raises:
        SqlExtError: RUN-013 for a file that is there with another content, or that cannot be written.
    """
    for place, source in files.items():
        target = folder / place
        if target.exists() and (not target.is_file() or target.read_bytes() != source.read_bytes()):
            raise SqlExtError("RUN-013", f"`{target}` is there already", hint="choose an empty folder")
    try:
        for place, source in files.items():
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_bytes(source.read_bytes())
    except OSError as error:
        raise SqlExtError("RUN-013", f"cannot write `{folder}`: {error.strerror}") from error
    return [folder / place for place in files]


def _files(folder: Path, *, below: Path = Path()) -> dict[Path, Path]:
    """Return the files of a folder by their places in it."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    places = {file.relative_to(folder): file for file in files}
    return {below / place: file for place, file in places.items() if not _LEFT_BEHIND & set(place.parts)}


def _with_data(scripts: Iterable[Path]) -> dict[Path, Path]:
    """Return scripts with what lies beside them under the same name, and the data of all."""
    beside = {Path(file.name): file for script in scripts for file in _beside(script)}
    return {**beside, **_files(examples_folder() / "data", below=Path("data"))}


def _beside(script: Path) -> Iterator[Path]:
    return (file for end in (".sql", ".out", ".steps") if (file := script.with_suffix(end)).is_file())


def _chosen(name: str, found: Mapping[str, Path]) -> Path:
    """Return the one example whose name begins so, or has this word."""
    wanted = name.removesuffix(".sql")
    begins = [stem for stem in found if stem == wanted or stem.startswith(f"{wanted}_")]
    matches = begins or [stem for stem in found if wanted in stem]
    if len(matches) == 1:
        return found[matches[0]]
    what = f"several: {', '.join(matches)}" if matches else "none; `sqlext examples` lists them"
    raise click.UsageError(f"of examples called `{name}` there are {what}")


def _first_line(script: Path) -> str:
    return script.read_text(encoding="utf-8").partition("\n")[0].removeprefix("-- ")
