"""Hold what a deployment is asked for, and read it from WITH of a DEPLOY statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlext.dialect.ast import statements as ast
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.session.deploying.allowed import Allowed

#: Those that are on or off, and what they are where nothing is said.
_FLAGS = {"keep-rows": False, "renew": True, "rollback": False, "stop": False}
#: Those of ``sqlext deploy``.
OPTIONS = ("allow-columns", "allow-differences", "show", *_FLAGS)


@dataclass(frozen=True, slots=True)
class DeployOptions:
    """What a deployment is asked for; as the arguments of ``Session.deploy``.

    Attributes:
        rollback: whether the version before comes back.
        renews: whether queries that read replaced rows are renewed with it; else they are refused.
    """

    allowed: Allowed = field(default_factory=Allowed)
    stop: bool = False
    keep_rows: bool = False
    rollback: bool = False
    renews: bool = True

    @staticmethod
    def of(statement: ast.Deploy) -> DeployOptions:
        """Return the options of a statement.

        Raises:
            SqlExtError: OPT-040 for a key that is none, that stands twice, or whose value says nothing.
        """
        found: dict[str, ast.Option] = {}
        for option in statement.options:
            if option.key not in OPTIONS:
                hint = did_you_mean(option.key, OPTIONS) or f"DEPLOY takes {', '.join(OPTIONS)}"
                raise SqlExtError("OPT-040", f"DEPLOY has no option '{option.key}'", span=option.key_span, hint=hint)
            if option.key in found:
                raise SqlExtError("OPT-040", f"'{option.key}' stands twice", span=option.key_span, hint="say it once")
            found[option.key] = option
        flags = {key: _flag(found[key]) if key in found else usual for key, usual in _FLAGS.items()}
        if flags["rollback"] and len(found) > 1:
            span = next(o.key_span for key, o in found.items() if key != "rollback")
            raise SqlExtError("OPT-040", "a rollback takes no other option", span=span, hint="leave it away")
        allowed = _allowed(found, statement)
        return DeployOptions(allowed, flags["stop"], flags["keep-rows"], flags["rollback"], flags["renew"])


def _allowed(found: Mapping[str, ast.Option], statement: ast.Deploy) -> Allowed:
    given = {key: option.value for key, option in found.items()}
    columns = [name.strip() for name in given["allow-columns"].split(";")] if "allow-columns" in given else []
    shown = given.get("show", "10")
    show: object = int(shown) if shown.isdecimal() else shown
    places = [o.key_span.to(o.value_span) for key, o in found.items() if key not in _FLAGS]
    try:
        return Allowed.of(given.get("allow-differences", "0"), columns, show, False, given.get("keep-rows") == "true")
    except SqlExtError as error:
        raise error.at(places[0] if places else statement.span) from None


def _flag(option: ast.Option) -> bool:
    if option.value not in ("true", "false"):
        message = f"'{option.key}' cannot be '{option.value}'"
        raise SqlExtError("OPT-040", message, span=option.value_span, hint="it is 'true' or 'false'")
    return option.value == "true"
