"""Check the options in WITH: their keys and their values.

Keys and value syntax are Flink's (org.apache.flink.configuration.ConfigOptions); so is the rule that a
format takes any key under its own prefix (case ddl/unknown_format_option_accepted).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from sqlext.errors import SqlExtError, did_you_mean
from sqlext.settings import parse_duration
from sqlext_catalog.model import Table

#: How the keys begin that are of this project alone.
OWN_PREFIX = "sqlext."
#: The option of a table, and of SET for all: what is done with rows that cannot be decoded.
BAD_ROWS_OPTION = "sqlext.bad-rows"
#: Its values; any other one is the table that keeps them.
FAIL, DROP = "fail", "drop"


class OptionError(SqlExtError):
    """A refusal because of an option; ``option`` is its key, by which a caller finds its place in the text."""

    def __init__(self, code: str, message: str, *, option: str | None = None, hint: str | None = None) -> None:
        super().__init__(code, message, hint=hint)
        self.option = option


Check = Callable[[str], str | None]
"""Given a value, what it should have been, or None if it is right."""


def any_text(value: str) -> str | None:
    """Take any value."""
    return None


def bad_rows(value: str) -> str | None:
    """Take what is done with rows that cannot be decoded."""
    return None if value.strip() else "'fail', 'drop' or the name of a table"


def boolean(value: str) -> str | None:
    """Take ``true`` or ``false``, in any case."""
    return None if value.strip().lower() in ("true", "false") else "true or false"


def duration(value: str) -> str | None:
    """Take a duration as Flink writes it."""
    return None if parse_duration(value) is not None else "a duration such as `10 s` or `5min`"


def memory(value: str) -> str | None:
    """Take a size as Flink writes it (``128MB``)."""
    good = re.fullmatch(r"\s*\d+\s*([kmgt]?b?|[kmgt]ib|bytes|(kilo|mega|giga|tera)(bi)?bytes)?\s*", value, re.I)
    return None if good else "a size such as `128mb`"


def positive(value: str) -> str | None:
    """Take a whole number above zero."""
    return None if re.fullmatch(r"\s*0*[1-9]\d*\s*", value) else "a whole number above 0"


def whole(value: str) -> str | None:
    """Take a whole number, zero included."""
    return None if re.fullmatch(r"\s*\d+\s*", value) else "a whole number"


def number(value: str) -> str | None:
    """Take a decimal number with sign and exponent."""
    return None if re.fullmatch(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*", value) else "a number"


@dataclass(frozen=True, slots=True)
class OneOf:
    """Takes one of some words, in any case."""

    choices: tuple[str, ...]

    def __call__(self, value: str) -> str | None:
        """Check a value."""
        words = [c.lower() for c in self.choices]
        return None if value.strip().lower() in words else " or ".join(self.choices)


def one_of(*choices: str) -> Check:
    """Take one of some words, in any case."""
    return OneOf(choices)


#: Options of format 'raw'. Its texts are UTF-8; the order of bytes is one of numbers.
RAW_OPTIONS: dict[str, Check] = {
    "raw.charset": one_of("UTF-8", "UTF8"),
    "raw.endianness": one_of("big-endian", "little-endian"),
}


def pattern(value: str) -> str | None:
    """Take a regular expression."""
    try:
        re.compile(value)
    except re.error:
        return "a regular expression"
    return None


def one_character(value: str) -> str | None:
    """Take one character, or an escape that stands for one (``\\t``)."""
    return None if len(unescape(value)) == 1 else "one character"


_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}


def unescape(value: str) -> str:
    """Return the text with Java's escapes resolved, as Flink does for delimiters."""
    found = re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m.group(1), 16)), value)
    # A backslash alone is itself.
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m.group(1), m.group(1)), found) if len(found) > 1 else found


@dataclass(frozen=True, slots=True)
class Rules:
    """The options that a connector or a format takes.

    Attributes:
        keys: key -> check of its value.
        required: keys without which it does not work.
        prefixes: any key that begins so is taken (``properties.``).
        patterns: (regular expression of a key, check): ``fields.<name>.kind``.
    """

    keys: Mapping[str, Check] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    patterns: tuple[tuple[str, Check], ...] = ()

    def merged(self, *others: Rules) -> Rules:
        """Return these rules and those of others."""
        every = (self, *others)
        return Rules(
            {k: c for r in every for k, c in r.keys.items()},
            tuple(dict.fromkeys(k for r in every for k in r.required)),
            tuple(p for r in every for p in r.prefixes),
            tuple(p for r in every for p in r.patterns),
        )

    def behind(self, prefix: str) -> Rules:
        """Return the same rules for options that stand behind a prefix (``value.``)."""
        keys = {f"{prefix}{key}": check for key, check in self.keys.items()}
        required = tuple(f"{prefix}{key}" for key in self.required)
        patterns = tuple((f"{re.escape(prefix)}(?:{key})", check) for key, check in self.patterns)
        return Rules(keys, required, tuple(f"{prefix}{p}" for p in self.prefixes), patterns)

    def check(self, owner: str, options: Mapping[str, str]) -> None:
        """Check options of ``owner`` (``connector 'filesystem'``).

        Raises:
            OptionError: OPT-003 unknown key, OPT-004 missing one, OPT-005 bad value.
        """
        for key, value in options.items():
            self._check_one(owner, key, value)
        for key in self.required:
            if key not in options:
                raise OptionError("OPT-004", f"{owner} needs option '{key}'", hint=f"add '{key}' = '...' to WITH (...)")

    def unknown(self, owner: str, key: str) -> OptionError | None:
        """Return OPT-003 for a key that these rules do not have, None for one that they have."""
        if self._rule_of(key) is not None:
            return None
        hint = did_you_mean(key, self.keys) or f"it takes {listed(self._shown())}"
        return OptionError("OPT-003", f"{owner} has no option '{key}'", option=key, hint=hint)

    def _check_one(self, owner: str, key: str, value: str) -> None:
        unknown = self.unknown(owner, key)
        if unknown is not None:
            raise unknown
        rule = self._rule_of(key) or any_text
        # A reference to a secret is known only when the query starts.
        wanted = None if value.startswith(("env:", "file:")) else rule(value)
        if wanted is not None:
            message = f"option '{key}' of {owner} cannot be '{value}'"
            raise OptionError("OPT-005", message, option=key, hint=f"it must be {wanted}")

    def _rule_of(self, key: str) -> Check | None:
        if key in self.keys:
            return self.keys[key]
        for expression, check in self.patterns:
            if re.fullmatch(expression, key):
                return check
        # Even of a connector that takes any key of others.
        if key.startswith(OWN_PREFIX):
            return None
        return any_text if key.startswith(self.prefixes) and self.prefixes else None

    def _shown(self) -> list[str]:
        return sorted(self.keys) + [f"{p}*" for p in self.prefixes]


def listed(names: Iterable[str], limit: int = 12) -> str:
    """Return names as text, the rest counted."""
    every = list(names)
    more = f" and {len(every) - limit} more" if len(every) > limit else ""
    return ", ".join(every[:limit]) + more


#: Options that every source takes: Flink's watermark options, static tables, and what is ours.
COMMON = Rules(
    {
        "connector": any_text,
        "property-version": any_text,
        "scan.watermark.emit.strategy": one_of("on-event", "on-periodic"),
        "scan.watermark.idle-timeout": duration,
        "scan.watermark.alignment.group": any_text,
        "scan.watermark.alignment.max-drift": duration,
        "scan.watermark.alignment.update-interval": duration,
        "sqlext.idle.close-windows": boolean,
        "sqlext.watermark.max-future": duration,
        "sqlext.late-rows.table": any_text,
        BAD_ROWS_OPTION: bad_rows,
        "sqlext.source": one_of("auto", "arrow", "spark"),
        "scan.parallelism": positive,
        "scan.mode": one_of("snapshot", "streaming"),
        "sink.parallelism": positive,
    },
)


def bad_rows_policy(table: Table) -> str | None:
    """Return ``fail``, ``drop`` or the name of a table, as a table's option says; None if it says nothing."""
    wanted = (table.option(BAD_ROWS_OPTION) or "").strip()
    return wanted.lower() if wanted.lower() in (FAIL, DROP) else wanted or None
