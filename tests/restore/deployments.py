"""Scripts of deployments, and one that dies on the way, in this process."""

from __future__ import annotations

from collections.abc import Callable

from sqlext.jobs.versions import Versions
from sqlext.session.deploying.beside import NewVersions
from sqlext.session.deploying.candidates import Deployable

HEAD = """SET 'sqlext.bounded' = 'catch-up'; SET 'pipeline.name' = 'q'; SET 'sqlext.source' = '{}';
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${{IN}}', 'format' = 'csv');
"""
SINK = "CREATE TABLE counts (k STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/counts');\n"
KEYED = SINK.replace("n BIGINT", "n BIGINT, PRIMARY KEY (k) NOT ENFORCED")
TUMBLE = "TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND))"


def dies_before(lost: str) -> Callable[[NewVersions, Deployable, Versions, Versions], None]:
    """Return a ``change`` that dies at the first one that gives a field another value, or begins a step."""
    change = NewVersions.change

    def dying(self: NewVersions, candidate: Deployable, then: Versions, now: Versions) -> None:
        if now.step == lost or getattr(now, lost, None) != getattr(then, lost, None):
            raise KeyboardInterrupt
        change(self, candidate, then, now)

    return dying
