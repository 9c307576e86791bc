"""The same SQL files by sqlext and by Flink, beside what Structured Streaming can say by hand: times, and answers.

python -m tests.benchmarks.peers --flink PYTHON [--rows 2000000] [--events 1000000] [--runs 3]
    [--forms csv json parquet delta kafka] [--only NAME ...] [--report FOLDER] [--log FILE]

``--flink`` is a Python with apache-flink (``make bench`` has one); without it that side is left out. Each engine has a
process of its own on the same cores, stays warm, and works while the others wait; each question is asked ``--runs``
times on a small input and on the whole (medians count), the engines in turns, once more before that to warm them up:
an input's size decides who reads it, so both are asked then.
Seconds are those of the job itself: within micro-batches, or from a job's first task to its last; starting engines and
planning are left out. What the small input takes is a job's start; ratios are of what the whole takes beyond that.
Answers are held against each other, as rows; where they can be taken back, what stands in the end. ``--report`` writes
a table, a plot and the environment; ``--log`` keeps what the engines say.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tests.benchmarks.arrow import write_round
from tests.benchmarks.engines.answers import difference
from tests.benchmarks.engines.process import Engine, engines
from tests.benchmarks.engines.report import Line, write_report
from tests.benchmarks.engines.tasks import Task
from tests.benchmarks.questions import KAFKA, Question, nexmark_script, operator_set, primary_key, window_set
from tests.kafka_broker import kafka_broker, make_topic, send_lines
from tests.nexmark.events import write_events

#: One for each core, with rows in turns: Flink reads files in any order, and takes for late what a later one makes old.
FILES = 2
_SMALL = 2_000
#: How many inputs are asked before it counts.
_WARMING = 2


class Asked(NamedTuple):
    """A question over files that are there.

    Attributes:
        name: of the question.
        form: of the files.
        small, whole: the folders with the input, or topics (``questions.Question.script``).
        nexmark: the number of the query; None for one of the window set.
    """

    name: str
    form: str
    small: str
    whole: str
    nexmark: int | None = None

    def task(self, side: str, source: str, out: Path) -> Task:
        """Return what an engine is to run."""
        if self.nexmark is not None:
            script = nexmark_script(self.nexmark, source, out)
        else:
            (question,) = (q for q in _asked() if q.name == self.name)
            script = question.script(source, out, self.form)
        return Task(side=side, name=self.name, script=script, source=source, out=str(out), form=self.form)


def asked(root: Path, given: argparse.Namespace) -> Iterator[Asked]:
    """Write inputs and yield the questions over them."""
    for form in given.forms:
        with _broker(root) if form == KAFKA else nullcontext("") as broker:
            small, whole = (_input(root, form, rows, given.keys, broker) for rows in (_SMALL, given.rows))
            yield from (Asked(q.name, form, small, whole) for q in _asked())
    if given.events:
        small, whole = root / "nexmark-small", root / "nexmark"
        write_events(small, _SMALL, FILES)
        write_events(whole, given.events, FILES)
        yield from (Asked(f"Nexmark q{n}", "json", str(small), str(whole), n) for n in range(23))


def _broker(root: Path) -> AbstractContextManager[str]:
    folder = root / "broker"
    folder.mkdir()
    return kafka_broker(folder)


def _input(root: Path, form: str, rows: int, keys: int, broker: str) -> str:
    """Write rows to files, or to a topic; return where they are."""
    folder = root / f"{form}-{rows}"
    write_round(folder, 0, rows, keys, "json" if form == KAFKA else form, FILES)
    if form != KAFKA:
        return str(folder)
    topic = make_topic(broker, f"rows-{rows}", FILES)
    send_lines(broker, topic, sorted(folder.iterdir()))
    return f"{broker}/{topic}"


def _asked() -> list[Question]:
    return [*window_set(), *operator_set()]


def measure(running: Sequence[Engine], question: Asked, root: Path, runs: int) -> Line:
    """Ask all engines, in turns."""
    times: dict[tuple[str, str], list[float]] = {}
    refused: dict[str, str] = {}
    answers: dict[str, Path] = {}
    inputs = [question.small, question.whole] * (runs + 1)
    for run, source in enumerate(inputs):
        for engine in running[:: 1 if run % 2 else -1]:
            if not engine.knows(question.name) or engine.side in refused:
                continue
            out = root / f"{engine.side}-{run}"
            taken = engine.ask(question.task(engine.side, source, out))
            if isinstance(taken, str):
                refused[engine.side] = taken
            elif run >= _WARMING:
                times.setdefault((engine.side, source), []).append(taken.busy)
                if source == question.whole:
                    answers[engine.side] = out / "result"
    key = primary_key(question.task("", question.whole, root)["script"])
    differs = difference(answers, partial=frozenset({"spark"}), key=key)
    for out in root.iterdir():
        shutil.rmtree(out)
    starts = {side: median(t) for (side, source), t in times.items() if source == question.small}
    wholes = {side: median(t) for (side, source), t in times.items() if source == question.whole}
    return Line(question.name, question.form, starts, wholes, differs, refused)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flink", type=Path)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--keys", type=int, default=1_000)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--forms", nargs="*", default=["csv", "json", "parquet"])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--report", type=Path)
    parser.add_argument("--log", type=Path, default=os.devnull)
    given = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        inputs, work = Path(folder) / "in", Path(folder) / "work"
        inputs.mkdir()
        work.mkdir()
        log = stack.enter_context(Path(given.log).open("w", encoding="utf-8"))
        running = [stack.enter_context(engine) for engine in engines(given.flink, log, kafka=KAFKA in given.forms)]
        for question in asked(inputs, given):
            if not given.only or question.name in given.only:
                lines.append(measure(running, question, work, given.runs))
                print(lines[-1].text, flush=True)
    if given.report:
        write_report(given.report, lines, given)


if __name__ == "__main__":
    main()
