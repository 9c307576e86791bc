"""Python functions of users: results of another type are faults, and what is raised has its place."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from sqlext.dialect.expressions.types import parse_type_text
from sqlext_udfs.functions import fitted, plain, tried

FITS = [
    ("INT", 7, 7),
    ("DOUBLE", 7, 7.0),
    ("STRING", "a", "a"),
    ("BOOLEAN", True, True),
    ("DECIMAL(4, 2)", 1, Decimal("1.00")),
    ("DECIMAL(4, 2)", Decimal("1.005"), Decimal("1.00")),
    ("DECIMAL(38, 18)", Decimal("9" * 20 + "." + "9" * 18), Decimal("9" * 20 + "." + "9" * 18)),
    ("DATE", date(2024, 1, 2), date(2024, 1, 2)),
    ("TIMESTAMP", datetime(2024, 1, 2), datetime(2024, 1, 2)),
    ("BINARY", b"a", b"a"),
    ("ARRAY<INT>", (1, None), [1, None]),
    ("MAP<STRING, INT>", {"a": 1}, {"a": 1}),
    ("STRUCT<a: INT, b: STRING>", {"a": 1}, (1, None)),
    ("STRUCT<a: INT, b: STRING>", (1, "x"), (1, "x")),
]
OTHERS = [
    ("INT", "7"),
    ("INT", True),
    ("INT", 7.0),
    ("TINYINT", 128),
    ("DOUBLE", "x"),
    ("STRING", 7),
    ("BOOLEAN", 1),
    ("DECIMAL(4, 2)", Decimal(100)),
    ("DECIMAL(4, 2)", Decimal("NaN")),
    ("DECIMAL(4, 2)", 1.5),
    ("DATE", datetime(2024, 1, 2)),
    ("TIMESTAMP", "2024-01-02"),
    ("ARRAY<INT>", [1, "2"]),
    ("MAP<STRING, INT>", {1: 1}),
    ("STRUCT<a: INT>", {"b": 1}),
    ("STRUCT<a: INT>", (1, 2)),
]


def kind(text: str) -> Any:
    return parse_type_text(text, "spark")


@pytest.mark.parametrize(("type_", "value", "expected"), FITS)
def test_results_of_the_type(type_: str, value: Any, expected: Any) -> None:
    assert fitted(value, kind(type_)) == expected
    assert fitted(None, kind(type_)) is None


@pytest.mark.parametrize(("type_", "value"), OTHERS)
def test_results_of_another_type_are_faults(type_: str, value: Any) -> None:
    with pytest.raises((TypeError, OverflowError)):
        plain(lambda: value, kind(type_))()
    assert tried(lambda: value, kind(type_))()[0] is None


def test_numbers_of_numpy() -> None:
    numpy = pytest.importorskip("numpy")
    assert fitted(numpy.int64(7), kind("INT")) == 7
    assert fitted(numpy.float32(0.5), kind("DOUBLE")) == 0.5


def ratio(x: int) -> float:
    return 1 / x


def test_what_is_raised_says_where() -> None:
    value, raised = tried(ratio, kind("DOUBLE"))(0)
    line = ratio.__code__.co_firstlineno + 1
    assert (value, raised) == (None, f"ZeroDivisionError: division by zero (test_functions.py:{line})")
    assert tried(ratio, kind("DOUBLE"))(2) == (0.5, None)


def test_a_long_text_is_cut() -> None:
    def fails() -> None:
        raise ValueError("x\n" * 5000)

    raised = tried(fails, kind("INT"))()[1]
    assert raised is not None
    assert len(raised) < 1100
    assert "\n" not in raised


class SilentError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (SystemExit(3), "SystemExit: 3"),
        (GeneratorExit(), "GeneratorExit:"),
        (BaseException("all"), "BaseException: all"),
        (SilentError(), "SilentError: it cannot say more, for RuntimeError"),
        (ValueError("caf\udcc3"), "ValueError: caf\\udcc3"),
        (ValueError("a\0b"), "ValueError: a\\0b"),
        (ValueError("jdbc:x://me:hunter2@h/d"), "ValueError: jdbc:x://******@h/d"),
        (ValueError(f"{'x' * 980} password=hunter2hunter2"), f"ValueError: {'x' * 980} passwor"),
    ],
    ids=lambda v: type(v).__name__,
)
def test_whatever_is_raised_is_told(raised: BaseException, told: str) -> None:
    """One row is lost to it and no query: what is told can leave the process, and holds no secret."""

    def fails() -> int:
        raise raised

    value, found = tried(fails, kind("INT"))()
    assert value is None
    assert found is not None
    assert found.partition(" (test_functions.py:")[0] == told
    assert found.encode("utf-8")
    assert "hunter2" not in found


def test_ctrl_c_is_no_row() -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tried(interrupted, kind("INT"))()


@pytest.mark.parametrize(("type_", "value"), [("STRING", "\udcff"), ("ARRAY<STRING>", ["a", "\udcff"])])
def test_a_text_that_is_no_unicode(type_: str, value: object) -> None:
    assert tried(lambda: value, kind(type_))()[1] is not None
    with pytest.raises(UnicodeEncodeError):
        plain(lambda: value, kind(type_))()
    assert tried(lambda: "caf\u00e9", kind("STRING"))() == ("caf\u00e9", None)
