"""Compile what a sink does not take of rows that change: a row is a dead letter, what takes it back is none."""

from __future__ import annotations

from dataclasses import replace

from sqlext.analysis.inserts.bound import APPEND, BoundInsert
from sqlext.analysis.inserts.sides import tables_of
from sqlext.plan.bad_rows import BAD, REFUSED
from sqlext.plan.nodes import EXISTS, KIND
from sqlext.quoting import identifier, string
from sqlext.rewrite.relations.letters import WHY
from sqlext.rewrite.script.model import SparkScript
from sqlext.rewrite.script.side_rows import expression_letter
from sqlext_udfs.kernel.row_kinds import INSERT, UPDATE_AFTER

#: The row that a sink does not take, and whether it does not take its key, beside the columns of the sink.
ROW, KEYLESS = "__row", "__keyless"
#: What stands behind the columns of the sink where its rows are judged.
JUDGED = (WHY, ROW, KEYLESS)

_STAYS = "; the row that the sink has of its key stays"
_GONE = "; the row that it replaces is taken back"


def with_refused_changes(script: SparkScript, insert: BoundInsert) -> SparkScript:
    """Return a script of the columns of the sink and ``WHY``, ``ROW``, ``KEYLESS``, with what the sink does not take.

    Rows that are added one by one are dead letters where they stand, and what takes one back is left out: it has the
    same values, and the sink never had them. Of rows that replace others the last one of each key counts. So they are
    marked, and ``sinks.refused_changes`` chooses.
    """
    plan, by_key = insert.plan, insert.mode != APPEND
    outputs = script.outputs[: -len(JUDGED)]
    names = ", ".join([*(identifier(name) for _, name in outputs), *plan.hidden])
    if by_key:
        reason = f"concat({WHY}.reason, IF({KEYLESS}, '', {string(_STAYS)}))"
        told = f"named_struct('text', {ROW}, 'code', {WHY}.code, 'reason', {reason}, 'keyless', {KEYLESS})"
        query = f"SELECT {names}, CASE WHEN {WHY} IS NOT NULL THEN {told} END AS {REFUSED} FROM ({script.query})"
        return replace(script, query=query, outputs=outputs)
    letter = expression_letter(WHY, ROW, tables_of(plan), "Sink", "sink")
    if not plan.changelog:
        query = f"SELECT {names}, CASE WHEN {EXISTS} THEN {letter} END AS {BAD} FROM ({script.query})"
        return replace(script, query=query, outputs=outputs)
    told = f"IF({KIND} = {UPDATE_AFTER}, concat({WHY}.reason, {string(_GONE)}), {WHY}.reason)"
    why = f"CASE WHEN {WHY} IS NOT NULL THEN named_struct('code', {WHY}.code, 'reason', {told}) END"
    added = f"{KIND} IN ({INSERT}, {UPDATE_AFTER})"
    kept = f"SELECT * EXCEPT ({WHY}), {why} AS {WHY} FROM ({script.query}) WHERE {WHY} IS NULL OR {added}"
    return replace(script, query=f"SELECT {names}, {letter} AS {BAD} FROM ({kept})", outputs=outputs)


def or_refused(conditions: list[str]) -> list[str]:
    """Return conditions that hold back no row that the sink does not take."""
    return [f"CASE WHEN {REFUSED} IS NULL THEN {' AND '.join(conditions)} ELSE true END"]
