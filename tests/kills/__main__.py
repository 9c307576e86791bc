"""Kill jobs, and print a table of what was killed where."""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests import kills
from tests.kills.inputs import Delta, Files, Input, Kafka
from tests.kills.sinks import Postgresql, Sink, Sqlite, Topic, Totals
from tests.kills.small import SmallTrial
from tests.kills.trial import Trial

#: The kinds of jobs; the last ones need no Spark.
SMALL = "files without Spark"
KINDS = ("files by Arrow", "files by Spark", "Delta", "Kafka", SMALL)
Made = Callable[[Path], tuple[Input, Sink]]


def main() -> None:
    """Kill jobs."""
    parser = argparse.ArgumentParser(description=kills.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", nargs="+", default=[*KINDS], choices=KINDS)
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="sqlext-kills-") as name, _kinds(Path(name), asked.jobs) as kinds:
        for number, kind in enumerate(asked.jobs):
            share = asked.kills // len(asked.jobs) + (number < asked.kills % len(asked.jobs))
            folder = Path(name, str(number))
            folder.mkdir()
            chance = random.Random(f"{asked.seed} {kind}")
            small = kind == SMALL
            trial = SmallTrial(folder, chance) if small else Trial(kind, *kinds[kind](folder), folder, chance)
            began = time.monotonic()
            trial.run(share)
            print(f"| {kind} | {trial.kills} | {time.monotonic() - began:.0f} s |", flush=True)


@contextmanager
def _kinds(folder: Path, wanted: Sequence[str]) -> Iterator[Mapping[str, Made]]:
    """Give what makes the input and the sink of each kind of job, in a folder of its own."""
    with ExitStack() as servers:
        kinds: dict[str, Made] = {
            "files by Arrow": lambda place: (Files(place / "in", "arrow"), Sqlite(place / "kept.db")),
            "files by Spark": lambda place: (Files(place / "in", "spark"), Totals(place / "sums.db")),
        }
        if "Delta" in wanted:
            from tests.postgresql_server import postgresql_server

            url = servers.enter_context(postgresql_server())
            kinds["Delta"] = lambda place: (Delta(place / "in"), Postgresql(url))
        if "Kafka" in wanted:
            from tests.kafka_broker import kafka_broker, make_topic

            (folder / "broker").mkdir()
            broker = servers.enter_context(kafka_broker(folder / "broker"))
            kinds["Kafka"] = lambda _: (Kafka(broker, "in"), Topic(broker, make_topic(broker, "out", 2)))
        yield kinds


if __name__ == "__main__":
    main()
