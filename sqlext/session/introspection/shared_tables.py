"""Say which tables the queries of a statement set read together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.names.environment import Environment
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.compiler.boundedness import is_bounded
from sqlext.rewrite.compiler.inserts import insert_script
from sqlext.rewrite.script.model import ArrowView, SparkScript
from sqlext.rewrite.script.shared import SharedRead, shared_reads, told
from sqlext.session.local_plans import is_finished_here, is_of_this_process, most_bytes


def shared_tables(
    scripts: Sequence[SparkScript],
    inserts: Sequence[BoundInsert | None],
    engines: Sequence[str | None],
    env: Environment,
) -> list[Sequence[str]]:
    """Return of each query of a job what it reads together with others, and why it reads other tables by itself.

    Args:
        scripts: those of the queries, for Spark.
        inserts: their INSERTs; None of one that has none.
        engines: who runs each (``engine_of``).
    """
    known = [insert for insert in inserts if insert is not None]
    if len(known) < len(scripts) or not known:
        return [()] * len(scripts)
    here = all(map(is_of_this_process, engines))
    if here and not all(is_bounded(insert.plan) for insert in known):
        streams = [insert_script(insert, env, end=InputEnd.NONE, local=True) for insert in known]
        return list(told(streams, known, streams_here=True))
    if here:
        scripts = [insert_script(insert, env, end=InputEnd.FINISH, local=True) for insert in known]
    opened = scripts if here else [_handing_on(script, env) for script in scripts]
    lines: list[Sequence[str]] = list(told(opened, known))
    reads = shared_reads(opened, known)
    finished = set() if here else _finished_here(reads, scripts, known, env)
    for read in reads:
        few_left = [member.query for member in read.members if member.query in finished]
        if few_left:
            few = f"{most_bytes(env):,}"
            text = f"{read.table.name.name}: partial results up to {few} bytes are finished in this process"
            lines = [[*of, text] if n in few_left else of for n, of in enumerate(lines)]
        for queries, text in _combined_once(read, scripts, [insert.table.name.name for insert in known]):
            lines = [[*of, f"{read.table.name.name}: {text}"] if n in queries else of for n, of in enumerate(lines)]
    return lines


def _handing_on(script: SparkScript, env: Environment) -> SparkScript:
    """Return the script of a query as Spark gets it: operators of one batch hand on what they give."""
    if not script.at_once:
        return script
    from sqlext.rewrite.compiler.handed_on import handed_on  # it needs Arrow, which few statements do

    return handed_on(script, env.zone, script.common_arguments(env.functions)).script


def _finished_here(
    reads: Sequence[SharedRead], scripts: Sequence[SparkScript], inserts: Sequence[BoundInsert], env: Environment
) -> set[int]:
    """Return the queries that this process finishes where what Spark's workers leave of their tables is small."""
    shared = [step for read in reads for _, step in read.members if isinstance(step, ArrowView)]
    if not shared:
        return set()
    return {
        number
        for number, (script, insert) in enumerate(zip(scripts, inserts, strict=True))
        if all(any(step is one for one in shared) for step in script.read_by_arrow)
        and is_finished_here(insert, script, env)
    }


def _combined_once(
    read: SharedRead, scripts: Sequence[SparkScript], names: Sequence[str]
) -> Iterator[tuple[list[int], str]]:
    """Yield the queries whose windows share work, and what they share."""
    views = [(query, step) for query, step in read.members if isinstance(step, ArrowView)]
    if not views:
        return
    from sqlext.local.reading import worked
    from sqlext.sources.together import works_together  # it needs Arrow, which few statements do

    def named(queries: Sequence[int]) -> str:
        return ", ".join(dict.fromkeys(names[query] for query in queries))

    for work in works_together([worked(step, scripts[query].buckets) for query, step in views]):
        finest = [views[share.member][0] for share in work.shares if share.coarser is None]
        coarser = [views[share.member][0] for share in work.shares if share.coarser is not None]
        if len(finest) > 1:
            yield finest, f"windows that differ in aggregates alone are combined once for {named(finest)}"
        if coarser:
            yield [*finest, *coarser], f"windows of {named(coarser)} are made of the slices of {named(finest)}"
