"""Say what is a secret, by the name of an option or by the form of a text, and hide it.

Two readings of a text follow from that. ``redact_options`` hides the values of options alone, so that what a query
computes stays as it is: stored views and exports need this. ``redact_text`` is for texts that are shown only. It hides
whatever may be a secret, also in a statement that cannot be parsed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from urllib.parse import unquote

from sqlext.remembered import Range, remember, value_ranges

HIDDEN = "******"

Pairs = tuple[tuple[str, str], ...]

# The union of Spark's spark.redaction.regex and Flink's GlobalConfiguration.SENSITIVE_KEYS, plus keys of clouds, of
# Kafka and of HTTP.
_ANYWHERE = (
    r"passw(?:or)?d|passphrase|secret|credential|token|api[._-]?key|access[._-]?key|account[._-]?key|service[._-]?key"
    r"|private[._-]?key|jaas[._-]?config|auth[._-]?params|basic[._-]?auth|http[._-]?headers|sas[._-]?key"
    r"|key(?:store)?[._-]?pass|connection[._-]?string|user[._-]?info|authorization|signature"
    r"|subscription[._-]?key|functions?[._-]key"
)
_WORDS = rf"{_ANYWHERE}|(?:^|[._-])(?:pwd|pass|sig|cookie)$"
_SECRET_KEY = re.compile(_WORDS, re.IGNORECASE)
# Keys that match above but say how or where, not what: a token's endpoint, a provider's class, a file's place.
_NOT_SECRET = re.compile(
    r"(endpoint|[._-]url|[._-]uri|class|provider|[._-]type|location|lifetime[\w.-]*|refresh(?![._-]?token)[\w.-]*|[._-]name|[._-]ms)$"
    r"|^fields\.",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)", re.DOTALL)

#: A word that may be the name of an option.
_WORD = re.compile(r"[\w.-]+")
_QUOTE = r"""(?:\\?["'`]|'')?"""
_TEXTS = {
    "spark": r"""(?:[rRnN]|[uU]&)?(?:'(?:[^'\\]|\\.|'')*(?:'|\Z)|"(?:[^"\\]|\\.|"")*(?:"|\Z))""",
    "flink": r"""(?:[nN]|[uU]&)?'(?:[^']|'')*(?:'|\Z)""",
}


def _patterns(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE | re.DOTALL) for pattern in patterns)


#: What stands behind the name of a secret, within any text: of URLs, connection properties, JAAS and JSON.
_VALUES = _patterns(
    rf"""{_QUOTE}(?: *=> *(?=['"\\])| *= *(?=['"\\])|=)"""
    rf"""(?:\\?"(?P<a>[^"\\]*)|''(?P<b>[^']*)|'(?P<c>[^']*)|(?P<d>[^\s'"&;,)}}\]\\]+))""",
    r"""\\?["']\s*:\s*\\?["'](?P<a>[^"'\\]*)""",
    # Headers and YAML: a word of a message is no secret.
    r"""\s*:\s*(?P<a>(?=[^\s'"&;,()}\]\\]*\d)[^\s'"&;,()}\]\\]{8,}(?!\())""",
    # Properties and command lines; a column of SQL has a dot or no digit.
    r"(?: +=>? *|=> *| +)(?P<a>(?=[\w+/~-]*\d)[\w+/=~-]{8,})(?![\w.(])",
    r">(?P<a>[^<]+)(?=</)",
    r"""(?:%22|%27)?(?:%3D|%3A)(?:%22|%27)?(?P<a>[^\s'"&;,)}\]%]+)""",
)
#: What stands behind it in SQL: one or more texts.
_BESIDE = _patterns(
    *(rf"{_QUOTE}(?:\s*(?:=>?|:)\s*|\s+)(?P<a>{text}(?:\s*{text})*)" for text in _TEXTS.values()),
)
#: Tokens that their makers gave a form of their own, so that they are found. Java reads these expressions, too.
_TOKENS = "|".join(
    (
        r"(?:AKIA|ASIA|ABIA|ACCA|LTAI|AKID)[A-Z0-9]{16,}",  # AWS, and those who do as it does
        r"gh[pousr]_\w{16,}|github_pat_\w{16,}|gl(?:pat|ptt|dt)-[\w-]{16,}",  # GitHub, GitLab
        r"eyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*",  # JWT
        r"(?:[spr]k|gsk)[_-](?:[a-z0-9]+[_-]){0,3}(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{16,}",  # Stripe, makers of models
        r"xox[abeoprs]-[\w-]{10,}|xapp-[\w-]{10,}|hooks\.slack\.com/services/[\w/]+",
        r"discord(?:app)?\.com/api/webhooks/[\w/-]+|(?:bot)?\d{6,10}:AA[\w-]{20,}",  # Discord, Telegram
        r"AIza[\w-]{30,}|ya29\.[\w-]{16,}",  # Google
        r"dapi[0-9a-f]{32,}|npm_\w{30,}|pypi-[\w-]{30,}|hf_[a-z0-9]{30,}|SG\.[\w-]{16,}\.[\w-]{16,}",
        r"(?:shp(?:at|ss|ca|pa)|whsec|dckr_pat|glsa|lsv2_(?:pt|sk)|sbp|nfp|do[opr]_v1|ntn|figd|vercel|pul)[_-]\w{16,}",
        r"hv[sb]\.[\w-]{16,}|AGE-SECRET-KEY-\w{16,}|tskey-[\w-]{16,}|sq0[a-z]{3}-[\w-]{16,}|ATATT3[\w-]{16,}",
        r"EAAC\w{20,}|SK[0-9a-f]{32}|key-[0-9a-f]{32}",
    )
)
#: A user and a password in a URL; the colon between them may be written as it is in a URL.
_USER_INFO = r"[^/\s:@'\"]*(?::|%3A)[^/\s'\"]*"
_PEM = r"[A-Z ]{0,40}PRIVATE KEY[A-Z ]{0,6}-----"
#: What is a secret whatever stands before it.
_FORMS = _patterns(
    rf"(?P<a>-----BEGIN {_PEM}.*?(?:-----END {_PEM}|\Z))",
    # The user goes with the password. A password may hold an @, so the last one before the host's end counts.
    rf"(?:://|:\\?/\\?/|%3A%2F%2F)(?P<a>{_USER_INFO})(?=@|%40)",
    rf"(?<![\w-])(?P<a>{_TOKENS})(?![\w-])",
    r"\b(?:thin|oci):(?P<a>[^/\s:@'\"]+/(?:\"[^\"]*\"|[^/\s@'\"]+))(?=@)",
    r"""\bAuthorization\\?["']?\s*[:=]\s*\\?["']?(?P<a>(?:Digest|Hawk|AWS4)[^\n]*|[^'"\\\n]+)""",
    r"[?&](?:code|key)=(?P<a>[^&\s'\"]{8,})",
    r"\s(?:-u|--user)[ =](?P<a>[^\s:'\"]+:[^\s'\"]+)",
    r"\bIDENTIFIED (?:WITH \S+ )?BY (?:PASSWORD )?'{1,4}(?P<a>[^']+)",
    r"\bPASSWORD +'{1,4}(?P<a>[^']+)",
    r"\b(?:Bearer|Basic) +(?P<a>(?=[^\s'\"]*[\d=])[\w.~+/=-]{8,})",
)
_SET = re.compile(r"\bSET\s+(?P<key>[\w.:-]+)\s*=\s*(?P<a>[^\s;'\"][^;\n]*)", re.IGNORECASE)
#: Values that are none: references, variables, and what is hidden already.
_HARMLESS = re.compile(r"(?:env:|file:|\$\{|\*+$|$)")
#: Options as all dialects write them: key and value, each in quotes.
_PAIR = {mode: re.compile(rf"(?P<key>{text})\s*=\s*(?P<value>{text})", re.DOTALL) for mode, text in _TEXTS.items()}
_OPENING = re.compile(r"(?:[rRnN]|[uU]&)?(['\"])")
#: What is shown of a text, in characters.
_LONGEST = 8_000
#: Shorter secrets that a statement has are words as often: they are looked for in that statement alone.
_SHORTEST_LITERAL = 8


def spark_redaction() -> dict[str, str]:
    """Return settings by which Spark hides secrets in its event log and its plans: by the words that are ours.

    The first is asked of names and values of settings, the others of texts of plans, whose matches are left out.
    """
    named = rf"[\w.-]*(?:{_ANYWHERE}|\b(?:pwd|pass|sig|cookie)\b)[\w.-]*"
    key = r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)"
    # In a plan a column has its number behind its name.
    quoted = r"""\\*"[^"]*"|''[^']*''|'[^']*'|%2[27][^%]*"""
    value = (
        r"""(?:#\d+L?|\\*["'`]|''|%2[27])?(?:\s*->\s*[^,)]*|\s*(?:<=>|[=:]|%3D|%3A)\s*"""
        rf"""(?:{quoted}|(?:(?:Basic|Bearer|Token) +)?[^\s,;&)}}\]]*))"""
    )
    forms = rf"(?<![\w-])(?:{_TOKENS})(?![\w-])|\b(?:Bearer|Basic) +[\w.~+/=-]{{8,}}"
    in_urls = r"://[^/\s:@]*(?::|%3A)[^/\s]*(?=@)|\b(?:thin|oci):[^/\s:@]+/[^/\s@]+(?=@)"
    hidden = rf"(?is){key}|{in_urls}|{forms}|{named}{value}"
    return {
        "spark.redaction.regex": rf"(?i){_ANYWHERE}|\b(?:pwd|pass|sig|cookie)\b|PRIVATE KEY|{in_urls}|{forms}",
        "spark.redaction.string.regex": hidden,
        "spark.sql.redaction.string.regex": hidden,
    }


def is_secret(key: str) -> bool:
    """Return whether the option's value is a secret, by its key."""
    return bool(_SECRET_KEY.search(key)) and not _NOT_SECRET.search(key)


def holds_secret(key: str, value: str) -> bool:
    """Return whether an option's value is a secret or names one, by its key, or has one in it, by its form."""
    return is_secret(key) or redact_value(key, value) != value


def is_reference(value: str) -> bool:
    """Return whether the value names an environment variable or a file instead of being the secret."""
    return bool(_REFERENCE.fullmatch(value))


def is_hidden(key: str, value: str) -> bool:
    """Return whether an option's value has lost a secret: it was stored, and stars stand in its place."""
    return HIDDEN in value and not key.startswith("fields.")


def redact(options: Iterable[tuple[str, str]] | Mapping[str, str]) -> Pairs:
    """Return the options with literal secrets (by key or by form) hidden; references stay readable."""
    pairs = options.items() if isinstance(options, Mapping) else options
    return tuple((key, redact_value(key, value)) for key, value in pairs)


def redact_value(key: str, value: str) -> str:
    """Return what may be shown of an option's value."""
    if is_secret(key):
        return value if is_reference(value) else HIDDEN
    # Values of datagen and faker are made up.
    return value if key.startswith("fields.") else redact_forms(value)


def redact_forms(text: str) -> str:
    """Return a value or a message with what has the form of a secret hidden."""
    return _hidden(text, _merged(_form_ranges(text)))


def remember_reference(secret: str) -> None:
    """Hide a secret in whatever is shown from now on: it was read from a variable or a file."""
    if not is_secret(secret):
        remember(secret)


def remember_options(options: Iterable[tuple[str, str]]) -> None:
    """Hide the secrets of a table in whatever is shown from now on: servers may quote them.

    A secret that is also a host, a user or another word of the table is one that everybody reads: it is left out.
    """
    pairs = tuple(options)
    readable = "\n".join(value for _, value in redact(pairs))
    for secret in {part for key, value in pairs if not is_reference(value) for part in _secrets_of(key, value)}:
        known = re.search(rf"(?<!\w){re.escape(secret)}(?!\w)", readable) is not None
        if len(secret) >= _SHORTEST_LITERAL and not known and not is_secret(secret) and HIDDEN not in secret:
            remember(secret)


def _secrets_of(key: str, value: str) -> Iterator[str]:
    """Yield an option's secrets: the value itself, what has the form of one in it, and passwords behind a user."""
    if redact_value(key, value) == value:
        return
    for part in (*([value] if is_secret(key) else ()), *(value[slice(*r)] for r in _form_ranges(value))):
        user, colon, password = part.partition(":")
        alone = [password] if colon and not re.search(r"\s", user) else []
        yield from (form for text in (part, *alone) for form in (text, unquote(text)))


def redact_message(text: str) -> str:
    """Return a message with what is a secret by its form, or by having been read as one, hidden."""
    return _hidden(text, _merged((*value_ranges(text), *_form_ranges(text))))


def in_short(text: str, redacted: Callable[[str], str]) -> str:
    """Return the beginning of a text without secrets, with its length where it is long; a short one whole.

    What somebody's row or a server says may have many megabytes, and nobody reads them.

    Args:
        redacted: hides secrets.
    """
    if len(text) <= _LONGEST + 100:  # with its length behind it it is as short already
        return redacted(text)
    # Some more is searched than is shown: a secret that is cut has its form no more.
    return f"{redacted(text[: 2 * _LONGEST])[:_LONGEST]}... ({len(text):,} characters)"


def _form_ranges(text: str) -> Iterator[Range]:
    found = (*_by_name(text, _VALUES), *_by_form(text))
    return (r for r in found if not _HARMLESS.match(text, *r))


def redact_options(text: str, mode: str) -> str:
    """Return a query with the literal secrets in its ``'key' = 'value'`` pairs hidden: hints may carry options.

    Args:
        text: SQL that can be parsed.
        mode: ``spark`` or ``flink``: how strings are read.
    """

    def pair(match: re.Match[str]) -> str:
        start, end = (place - match.start() for place in _within(text, *match.span("value")))
        key = text[slice(*_within(text, *match.span("key")))]
        return f"{match[0][:start]}{redact_value(key, match[0][start:end])}{match[0][end:]}"

    return _PAIR["flink" if mode == "flink" else "spark"].sub(pair, text)


def redact_text(text: str) -> str:
    """Return a statement with whatever may be a secret in it hidden, for logs, records and results."""
    return _hidden(text, secret_ranges(text))


def masked(text: str) -> str:
    """Return the text with a star in place of each character of a secret; line breaks and length stay."""
    parts, at = [], 0
    for start, end in secret_ranges(text):
        parts += [text[at:start], re.sub(r"[^\n]", "*", text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def secret_ranges(text: str) -> list[Range]:
    """Return where secrets stand in SQL, parsable or not: half-open ranges without their quotes, sorted, apart."""
    # A backslash escapes in Spark's strings alone. Both readings count, as the text does not say which is meant.
    settings = (m for m in _SET.finditer(text) if is_secret(m["key"]))
    found = (*_by_name(text, (*_VALUES, *_BESIDE)), *_by_form(text), *map(_range, settings))
    return _merged((*value_ranges(text), *(r for r in found if not _HARMLESS.match(text, *r))))


def _by_name(text: str, values: Sequence[re.Pattern[str]]) -> Iterator[Range]:
    for word in _WORD.finditer(text):
        if is_secret(word[0]):
            yield from (_range(m) for pattern in values if (m := pattern.match(text, word.end())))


def _by_form(text: str) -> Iterator[Range]:
    return (_range(m) for pattern in _FORMS for m in pattern.finditer(text))


def _range(match: re.Match[str]) -> Range:
    """Return the range of the group that took part, without quotes around it."""
    group = next(name for name in "abcd" if match.groupdict().get(name) is not None)
    return _within(match.string, *match.span(group))


def _within(text: str, start: int, end: int) -> Range:
    """Return the inside of a text in quotes, of which the last may be missing; any other range as it is."""
    quoted = _OPENING.match(text, start, end)
    if quoted is None:
        return start, end
    inside = quoted.end()
    return inside, end - 1 if end > inside and text[end - 1] == quoted[1] else end


def _merged(ranges: Iterable[Range]) -> list[Range]:
    merged: list[Range] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _hidden(text: str, ranges: Iterable[Range]) -> str:
    parts, at = [], 0
    for start, end in ranges:
        parts += [text[at:start], HIDDEN]
        at = end
    return "".join([*parts, text[at:]])
