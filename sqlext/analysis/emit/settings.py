"""Translate Flink's settings ``table.exec.emit.*`` into a policy for the group windows of a script."""

from __future__ import annotations

from sqlext.analysis.grouping.group_by import Grouped
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.windows.group_windows import NAMES
from sqlext.errors import SqlExtError
from sqlext.settings import parse_duration
from sqlext_udfs.windows.policy import Policy, Session, WindowKind
from sqlext_udfs.windows.triggers.tree import AfterDelay, AfterWatermark, Delay, EveryPeriod, EveryRow, Never, Trigger

#: How the keys of all of them begin.
KEYS = "table.exec.emit."
_EARLY = f"{KEYS}early-fire"
_LATE = f"{KEYS}late-fire"
_LATENESS = f"{KEYS}allow-lateness"


def settings_policy(env: Environment, window: WindowKind, grouped: Grouped) -> Policy | None:
    """Return the policy that the settings ask for, None if they ask for none.

    ``allow-lateness`` alone changes nothing in Flink, so here neither.

    Raises:
        SqlExtError: EMIT-032 for windows that Flink's strategy is not for, EMIT-033 for delays that do not fit.
    """
    early, late = env.settings.flag(f"{_EARLY}.enabled"), env.settings.flag(f"{_LATE}.enabled")
    if not early and not late:
        return None
    _check_windows(window, grouped, _EARLY if early else _LATE)
    lateness = _millis(env, _LATENESS, grouped) or 0
    delay = _delay(env, _LATE, grouped) if late else 0
    if late and lateness <= 0:
        raise _refused(grouped, f"'{_LATE}.enabled' needs '{_LATENESS}' longer than zero")
    if late and lateness < delay:
        raise _refused(grouped, f"'{_LATENESS}' must not be shorter than '{_LATE}.delay'")
    # Without late-fire a late row changes nothing that comes out, so the late part never fires.
    fires = AfterWatermark(_early(env, grouped) if early else None, _late(delay) if late else Never())
    return Policy(window, fires, lateness=lateness if late else 0)


def _early(env: Environment, grouped: Grouped) -> Trigger:
    """Return the early part: periodic from the first row on, also with nothing new (Flink)."""
    delay = _delay(env, _EARLY, grouped)
    return EveryPeriod(delay) if delay else EveryRow()


def _late(delay: int) -> Trigger:
    return AfterDelay((Delay(delay),)) if delay else EveryRow()


def _delay(env: Environment, phase: str, grouped: Grouped) -> int:
    delay = _millis(env, f"{phase}.delay", grouped)
    if delay is None:
        raise _refused(grouped, f"'{phase}.enabled' needs '{phase}.delay'")
    return delay


def _millis(env: Environment, key: str, grouped: Grouped) -> int | None:
    text = env.settings.get(key)
    if text is None:
        return None
    millis = parse_duration(text)
    if millis is None:
        raise _refused(grouped, f"'{key}' = '{text}' is no duration")
    return millis


def _refused(grouped: Grouped, message: str) -> SqlExtError:
    return SqlExtError("EMIT-033", message, span=grouped.select.span, hint="an EMIT clause says it at its place")


def _check_windows(window: WindowKind, grouped: Grouped, phase: str) -> None:
    # WindowEmitStrategy is for group windows alone: "Session window doesn't support EMIT strategy currently."
    legacy = grouped.assign is not None and any(c.name == NAMES[0] for c in grouped.assign.columns)
    if legacy and not isinstance(window, Session):
        return
    what = "SESSION" if isinstance(window, Session) else "a window table function"
    raise SqlExtError(
        "EMIT-032",
        f"'{phase}.enabled' is not for {what} (Flink's rule)",
        span=grouped.select.span,
        hint="write EMIT AFTER WATERMARK EARLY ... LATE ... behind the GROUP BY",
    )
