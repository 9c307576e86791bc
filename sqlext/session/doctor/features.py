"""Say what the installed Spark can do, and which extras are installed."""

from __future__ import annotations

from collections.abc import Iterator

from sqlext.capabilities import CAPABILITIES, Capability, has, installed, missing
from sqlext.extras import EXTRAS, Extra
from sqlext.session.doctor.findings import Finding, refused

_CAN = "Spark can"
_EXTRAS = "extras"


def capabilities() -> Iterator[Finding]:
    """Yield a line for each capability that some Spark has and another has not."""
    if not installed():
        found = "there is no PySpark here; what is checked and rewritten is meant for the newest"
        yield Finding(_CAN, "all", "note", found, "install PySpark, then ask again")
        return
    yield from map(_capability, CAPABILITIES)


def _capability(capability: Capability) -> Finding:
    if has(capability):
        return Finding(_CAN, capability.name, "ok", f"there, for {capability.purpose}")
    if capability.instead:
        return Finding(_CAN, capability.name, "note", f"not there; {capability.instead} serves")
    return refused(_CAN, capability.name, missing(capability))


def extras() -> Iterator[Finding]:
    """Yield a line for each extra; one that is not installed is a note."""
    yield from map(_extra, EXTRAS)


def _extra(extra: Extra) -> Finding:
    if not extra.missing():
        return Finding(_EXTRAS, extra.name, "ok", f"installed, for {extra.purpose}")
    found = f"not installed, for {extra.purpose}; {extra.without}"
    return Finding(_EXTRAS, extra.name, "note", found, extra.install)
