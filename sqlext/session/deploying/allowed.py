"""Check what a deployment is told about rows that may differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlext.errors import SqlExtError, did_you_mean
from sqlext.jobs.comparison import DifferenceLimit


@dataclass(frozen=True, slots=True)
class Allowed:
    """What may differ.

    Attributes:
        limit: how many rows.
        columns: that may differ in any row.
        show: how many rows that differ are shown.
    """

    limit: DifferenceLimit = field(default_factory=DifferenceLimit)
    columns: tuple[str, ...] = ()
    show: int = 10

    @staticmethod
    def of(
        differences: object, columns: object, show: object, stop: object, keep_rows: object, renew: object = True
    ) -> Allowed:
        """Return what arguments of ``Session.deploy`` say.

        Raises:
            SqlExtError: OPT-040 for one that is none, and for rows that may differ where none are compared.
        """
        if isinstance(differences, bool) or not isinstance(differences, (str, int)):
            raise _wrong("allow_differences", differences, "a number of rows or a share of them: 12, '12' or '0.5%'")
        try:
            limit = DifferenceLimit.parse(str(differences))
        except ValueError:
            raise _wrong(
                "allow_differences", differences, "a number of rows or a share of them: 12 or '0.5%'"
            ) from None
        if isinstance(columns, str) or not isinstance(columns, Sequence):
            raise _wrong("allow_columns", columns, "a list of names, as ['total']")
        for name in columns:
            if not isinstance(name, str):
                raise _wrong("allow_columns", name, "a list of names, as ['total']")
        if isinstance(show, bool) or not isinstance(show, int) or show < 0:
            raise _wrong("show", show, "a whole number from 0")
        for name, value in {"stop": stop, "keep_rows": keep_rows, "renew": renew}.items():
            if not isinstance(value, bool):
                raise _wrong(name, value, "True or False")
        if keep_rows and (limit != DifferenceLimit() or columns):
            hint = "--keep-rows (keep_rows=True) leaves the rows as they are, so leave the other away"
            raise SqlExtError(
                "OPT-040", "`allow_differences` and `allow_columns` are of no use with `keep_rows`", hint=hint
            )
        return Allowed(limit, tuple(columns), show)

    def require_columns(self, there: Sequence[str]) -> None:
        """Refuse a column that no table of the script's queries has.

        Raises:
            SqlExtError: OPT-040.
        """
        known = {name.casefold() for name in there}
        for name in self.columns:
            if name.casefold() not in known:
                hint = did_you_mean(name, there) or f"its tables have {', '.join(there)}"
                raise SqlExtError("OPT-040", f"no query of the script writes a column `{name}`", hint=hint)


def _wrong(name: str, value: object, wanted: str) -> SqlExtError:
    return SqlExtError("OPT-040", f"`{name}` cannot be {value!r}", hint=f"it is {wanted}")
