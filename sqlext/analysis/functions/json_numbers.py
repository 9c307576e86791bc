"""Keep the digits of JSON numbers, which Spark's JSON functions read as DOUBLE and VARIANT without trailing zeros.

Before a document is read, its numbers become strings with a mark before them. Behind it, what was found is written
as Flink writes it: as the text of a Java BigDecimal (``BigDecimal.toString``), so ``1e2`` is ``1E+2``.
"""

from __future__ import annotations

#: A control character, which JSON texts have only as an escape. It is read as the character, and written as the escape.
_MARK = "\\u0001"
#: The escape in a pattern, and in what replaces one: both say a backslash twice, and so does a literal of SQL.
_ESCAPED = "\\\\\\\\u0001"
#: What stands before a number: no digit, and whole strings. Possessive, so that a long document needs no stack.
_BEFORE = r'(?:[^"0-9-]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+'
#: A number of JSON's grammar where a value ends; another number stays as it is, so the text stays no JSON.
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:[.][0-9]++)?+(?:[eE][+-]?[0-9]++)?+(?=\s*+(?:[,\]}]|$))"
#: What ``get_json_object`` makes of a number may look so if digits were lost.
INEXACT = "^-?[0-9]+[.eE]|^-?[0-9]{16}|^-0|Infinity"
_PARTS = r"^(-?)([0-9]+)(?:[.]([0-9]+))?(?:[eE]([+-]?[0-9]+))?$"


def _literal(pattern: str) -> str:
    return "'" + pattern.replace("\\", "\\\\") + "'"


def marked(document: str) -> str:
    """Return a document whose numbers are marked strings; a text that is no JSON stays none."""
    pattern = _literal(f"\\G({_BEFORE})({_NUMBER})")
    return f"regexp_replace({document}, {pattern}, '$1\"{_ESCAPED}$2\"')"


def scalar(found: str) -> str:
    """Return what was found in a marked document, as the text of a scalar."""
    number = decimal_text("substring(f, 2)")
    return f"transform(array({found}), f -> if(startswith(f, '{_MARK}'), {number}, f))[0]"


def document(found: str) -> str:
    """Return JSON that was found in a marked document, with its numbers."""
    number = decimal_text("substring_index(p, '\"', 1)")
    part = f"if(i = 0, p, concat({number}, substring(p, instr(p, '\"') + 1)))"
    return f"array_join(transform(split({found}, '\"{_ESCAPED}'), (p, i) -> {part}), '')"


def decimal_text(text: str) -> str:
    """Return the text of a number as BigDecimal writes it.

    With the unscaled digits ``d`` and the scale ``s`` the exponent is ``a`` = digits - 1 - s. A number is plain if
    ``s`` is not negative and ``a`` at least -6. Most numbers are written so already.
    """
    digits = "regexp_replace(concat({0}, {1}), '^0+(?=[0-9])', '')"
    parts = [f"regexp_extract(n, {_literal(_PARTS)}, {i})" for i in (1, 2, 3, 4)]
    scale = f"length({parts[2]}) - coalesce(try_cast({parts[3]} AS INT), 0)"
    fields = f"named_struct('m', {parts[0]}, 'd', {digits.format(parts[1], parts[2])}, 's', {scale})"
    exponent = "length(x.d) - 1 - x.s"
    padded = "lpad(x.d, greatest(length(x.d), x.s + 1), '0')"
    plain = f"concat(left({padded}, length({padded}) - x.s), '.', right({padded}, x.s))"
    scientific = (
        f"concat(left(x.d, 1), if(length(x.d) > 1, concat('.', substring(x.d, 2)), ''),"
        f" 'E', if({exponent} > 0, '+', ''), {exponent})"
    )
    number = f"CASE WHEN x.s = 0 THEN x.d WHEN x.s > 0 AND {exponent} >= -6 THEN {plain} ELSE {scientific} END"
    signed = f"concat(if(x.d = '0', '', x.m), {number})"
    written = f"transform(transform(array({text}), n -> {fields}), x -> {signed})[0]"
    return f"if({text} RLIKE '[eE]|^-?0[.]000000|^-0', {written}, {text})"
