"""Print function calls as Flink does. ``flink_text`` prints all other expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from sqlext.dialect.ast.expressions import Call, Node, OverSpec
from sqlext.dialect.ast.queries import OrderItem
from sqlext.types import quote


class OperandPrinter(Protocol):
    """Prints the operands of a call."""

    def text(self, node: Node) -> str:
        """Return the text of an expression."""

    def list(self, nodes: Iterable[Node]) -> str:
        """Return the texts with commas."""

    def left(self, node: Node, precedence: int) -> str:
        """Return the text of an operand left of an operator."""

    def right(self, node: Node, precedence: int) -> str:
        """Return the text of an operand right of an operator."""

    def order(self, item: OrderItem) -> str:
        """Return the text of an item of ORDER BY."""


# Calcite prints its own operators bare and a function that is only in BuiltInFunctionDefinitions in backticks. These
# are the latter: SHOW FUNCTIONS of Flink 2.3.0 without FlinkSqlOperatorTable.
_QUOTED = frozenset(
    """
    ARRAY_APPEND ARRAY_CONCAT ARRAY_CONTAINS ARRAY_DISTINCT ARRAY_EXCEPT ARRAY_INTERSECT ARRAY_JOIN ARRAY_MAX ARRAY_MIN
    ARRAY_POSITION ARRAY_PREPEND ARRAY_REMOVE ARRAY_REVERSE ARRAY_SLICE ARRAY_SORT ARRAY_UNION BITMAP_AND
    BITMAP_ANDNOT BITMAP_AND_AGG BITMAP_AND_CARDINALITY_AGG BITMAP_BUILD BITMAP_BUILD_AGG BITMAP_BUILD_CARDINALITY_AGG
    BITMAP_CARDINALITY BITMAP_FROM_BYTES BITMAP_OR BITMAP_OR_AGG BITMAP_OR_CARDINALITY_AGG BITMAP_TO_ARRAY
    BITMAP_TO_BYTES BITMAP_TO_STRING BITMAP_XOR BITMAP_XOR_AGG BITMAP_XOR_CARDINALITY_AGG BTRIM
    CURRENT_WATERMARK ELT ENDSWITH GREATEST IFNULL INET_ATON INET_NTOA JSON JSON_QUOTE JSON_STRING JSON_UNQUOTE LEAST
    MAP_ENTRIES MAP_FROM_ARRAYS MAP_KEYS MAP_UNION MAP_VALUES OBJECT_OF OBJECT_UPDATE PARSE_JSON PERCENTILE PRINTF
    REGEXP_COUNT REGEXP_EXTRACT_ALL REGEXP_INSTR REGEXP_SUBSTR SOURCE_WATERMARK SPLIT STARTSWITH TO_TIMESTAMP_LTZ
    TRANSLATE TYPEOF UNHEX URL_DECODE URL_ENCODE
    """.split()
)
#: Functions that Calcite turns into EXTRACT.
_EXTRACTS = {
    **{unit: unit for unit in "YEAR QUARTER MONTH WEEK HOUR MINUTE SECOND".split()},
    "DAYOFMONTH": "DAY",
    "DAYOFWEEK": "DOW",
    "DAYOFYEAR": "DOY",
}
#: Legacy group windows have a name of their own in Calcite, TUMBLE being the table function.
_NAMES = {"CEILING": "CEIL", "TUMBLE": "$TUMBLE", "HOP": "$HOP", "SESSION": "$SESSION"}


def call_text(call: Call, printer: OperandPrinter) -> str:
    """Return the text of a call, with what follows it."""
    form = _FORMS.get(call.function)
    text = form(call, printer) if form and _is_plain(call) else None
    return (text or _plain(call, printer)) + _suffix(call, printer)


def _is_plain(call: Call) -> bool:
    return not (call.distinct or call.order_by or call.bare)


def _name(call: Call) -> str:
    if "." in call.name:
        return ".".join(quote(part) for part in call.name.split("."))
    name = _NAMES.get(call.function, call.function)
    return quote(name) if name in _QUOTED else name


def _plain(call: Call, printer: OperandPrinter) -> str:
    if call.bare:
        return call.function
    words = ["DISTINCT"] if call.distinct else []
    words += [printer.list(call.args)] if call.args else []
    words += [_returning(clause) for clause in call.clauses]
    return f"{_name(call)}({' '.join(words)})"


def _returning(clause: str) -> str:
    # Calcite prints the type by its standard name.
    return "RETURNING INTEGER" if clause == "RETURNING INT" else clause


def _suffix(call: Call, printer: OperandPrinter) -> str:
    text = ""
    if call.order_by:
        text += f" WITHIN GROUP (ORDER BY {', '.join(printer.order(i) for i in call.order_by)})"
    if call.filter is not None:
        text += f" FILTER (WHERE {printer.text(call.filter)})"
    return text + (f" OVER {_over(call.over, printer)}" if call.over else "")


def _over(over: OverSpec, printer: OperandPrinter) -> str:
    if over.name is not None:
        return quote(over.name)
    parts = []
    if over.partition_by:
        parts.append(f"PARTITION BY {printer.list(over.partition_by)}")
    if over.order_by:
        parts.append(f"ORDER BY {', '.join(printer.order(i) for i in over.order_by)}")
    if over.frame is not None:
        parts.append(" ".join(over.frame.span.text.upper().split()))
    return f"({' '.join(parts)})"


def _trim(call: Call, printer: OperandPrinter) -> str | None:
    texts = [printer.text(a) for a in call.args]
    if len(texts) == 1:
        return f"TRIM(BOTH ' ' FROM {texts[0]})"
    if len(texts) == 2:
        return f"TRIM({texts[0]} ' ' FROM {texts[1]})"
    return f"TRIM({texts[0]} {texts[1]} FROM {texts[2]})" if len(texts) == 3 else None


def _position(call: Call, printer: OperandPrinter) -> str | None:
    texts = [printer.text(a) for a in call.args]
    return f"POSITION({' IN '.join(texts)})" if len(texts) == 2 else None


def _overlay(call: Call, printer: OperandPrinter) -> str | None:
    texts = [printer.text(a) for a in call.args]
    if len(texts) not in (3, 4):
        return None
    length = f" FOR {texts[3]}" if len(texts) == 4 else ""
    return f"OVERLAY({texts[0]} PLACING {texts[1]} FROM {texts[2]}{length})"


def _extract(call: Call, printer: OperandPrinter) -> str | None:
    texts = [printer.text(a) for a in call.args]
    if call.function == "EXTRACT":
        return f"EXTRACT({texts[0]} FROM {texts[1]})" if len(texts) == 2 else None
    return f"EXTRACT({_EXTRACTS[call.function]} FROM {texts[0]})" if len(texts) == 1 else None


def _round_to(call: Call, printer: OperandPrinter) -> str | None:
    """Print FLOOR(x TO HOUR) and CEIL(x TO HOUR)."""
    texts = [printer.text(a) for a in call.args]
    return f"{_name(call)}({' TO '.join(texts)})" if len(texts) == 2 else None


def _nullif(call: Call, printer: OperandPrinter) -> str | None:
    if len(call.args) != 2:
        return None
    # Calcite rewrites NULLIF to CASE. 30 is the precedence of =.
    first = printer.text(call.args[0])
    return f"CASE WHEN {printer.left(call.args[0], 30)} = {printer.right(call.args[1], 30)} THEN NULL ELSE {first} END"


def _json_object(call: Call, printer: OperandPrinter) -> str | None:
    texts = [printer.text(a) for a in call.args]
    # Calcite writes the default out: NULL ON NULL of an object, ABSENT ON NULL of an array.
    pairs = [f"KEY {k} VALUE {v}" for k, v in zip(texts[::2], texts[1::2], strict=True)]
    return f"JSON_OBJECT({' '.join([', '.join(pairs), *(call.clauses or ('NULL ON NULL',))]).strip()})"


def _json_array(call: Call, printer: OperandPrinter) -> str | None:
    return f"JSON_ARRAY({' '.join([printer.list(call.args), *(call.clauses or ('ABSENT ON NULL',))]).strip()})"


_FORMS: dict[str, Callable[[Call, OperandPrinter], str | None]] = {
    "TRIM": _trim,
    "POSITION": _position,
    "OVERLAY": _overlay,
    "EXTRACT": _extract,
    **dict.fromkeys(_EXTRACTS, _extract),
    **dict.fromkeys(("FLOOR", "CEIL", "CEILING"), _round_to),
    "NULLIF": _nullif,
    "JSON_OBJECT": _json_object,
    "JSON_ARRAY": _json_array,
}
