"""MATCH_RECOGNIZE: columns, what the operator is told, refusals."""

from __future__ import annotations

import pytest

from sqlext.plan.base import walk
from sqlext.plan.explain import as_text
from sqlext.plan.matching import Match
from sqlext.rewrite.script.model import OperatorView
from sqlext_udfs.expressions import trees as e
from sqlext_udfs.matching.specification import Skip

from .conftest import Analysis


@pytest.fixture
def standard(flink: Analysis) -> Analysis:
    flink.run("SET 'sqlext.match-recognize' = 'standard'")
    return flink


def _query(define: str = "B AS B.amount > A.amount", **clauses: str) -> str:
    given = {
        "order": "ts",
        "measures": "B.amount AS b",
        "rows": "ONE ROW PER MATCH",
        "after": "",
        "pattern": "A B",
        "rest": "",
        "table": "clicks",
        **clauses,
    }
    return (
        f"SELECT * FROM {given['table']} MATCH_RECOGNIZE (PARTITION BY user_name ORDER BY {given['order']} "
        f"MEASURES {given['measures']} {given['rows']} {given['after']} PATTERN ({given['pattern']}) {given['rest']} "
        f"DEFINE {define})"
    )


def _match(flink: Analysis, query: str) -> Match:
    return next(n for n in walk(flink.plan(query)) if isinstance(n, Match))


def _values(match: Match) -> list[str]:
    return [("absent " if v.absent else "") + (v.expr.span.text if v.expr else "rowtime") for v in match.values]


@pytest.mark.parametrize(
    ("measure", "type_"),
    [
        ("A.amount", "INT"),
        ("LAST(B.amount, 1)", "INT"),
        ("FIRST(A.extra.b)", "ROW<`c` STRING>"),
        ("A.amount * 2", "INT"),
        ("SUM(A.amount)", "INT"),
        ("AVG(B.amount)", "INT"),
        ("COUNT(*)", "BIGINT"),
        ("COUNT(A.*)", "BIGINT"),
        ("LISTAGG(A.user_name)", "STRING"),
        ("amount", "INT"),
        ("A.ts", "TIMESTAMP(3)"),
        ("MATCH_ROWTIME()", "TIMESTAMP(3) *ROWTIME*"),
        ("MATCH_ROWTIME(ts)", "TIMESTAMP(3) *ROWTIME*"),
        ("MATCH_PROCTIME()", "TIMESTAMP_LTZ(3) *PROCTIME*"),
        ("CLASSIFIER()", "STRING"),
        ("MATCH_NUMBER()", "BIGINT"),
        ("UPPER(A.user_name) || B.user_name", "STRING"),
    ],
)
def test_types_of_measures(flink: Analysis, measure: str, type_: str) -> None:
    assert flink.columns(_query(measures=f"{measure} AS m")) == {"user_name": "STRING", "m": type_}


@pytest.mark.parametrize(
    ("define", "values", "condition"),
    [
        # what one row knows is SQL's
        ("B AS UPPER(B.user_name) = 'X' AND amount > 3", ["UPPER(B.user_name) = 'X' AND amount > 3"], e.Cell(0, 1)),
        ("B AS TRUE", [], e.Constant(True)),
        # what combines rows is the operator's
        (
            "B AS B.amount > A.amount",
            ["B.amount"],
            e.Compare(">", e.Cell(0, 1), e.Cell(0, 0)),
        ),
        (
            "B AS LAST(B.amount * 2, 1) < 5",
            ["B.amount * 2"],
            e.Compare("<", e.Cell(0, 1, offset=1), e.Constant(5)),
        ),
        (
            "B AS COALESCE(A.amount, 1) < B.amount",
            ["COALESCE(A.amount, 1)", "TRUE", "absent COALESCE(A.amount, 1)", "B.amount"],
            e.Compare(
                "<",
                e.Case((e.When(e.Is(e.Cell(1, 0), "NULL"), e.Cell(2, 1)),), e.Cell(0, 0)),
                e.Cell(3, 1),
            ),
        ),
        (
            "B AS AVG(B.amount) > SUM(A.amount)",
            ["B.amount"],
            e.Compare(
                ">",
                e.Arithmetic(
                    "/", e.Running("sum", 0, 1, e.Number("BIGINT")), e.Running("count", 0, 1), e.Number("INT")
                ),
                e.Running("sum", 0, 0, e.Number("INT")),
            ),
        ),
        (
            "B AS TIMESTAMPDIFF(MINUTE, A.ts, B.ts) < 5",
            ["B.ts"],
            e.Compare(
                "<",
                e.Arithmetic(
                    "/",
                    e.Arithmetic("-", e.Cell(0, 1), e.Cell(0, 0), e.Number("BIGINT")),
                    e.Constant(60_000_000),
                    e.Number("BIGINT"),
                ),
                e.Constant(5),
            ),
        ),
        (
            "B AS B.amount NOT BETWEEN A.amount AND 9 OR A.amount IS NULL",
            ["B.amount", "A.amount IS NULL", "TRUE", "absent A.amount IS NULL"],
            e.Or(
                (
                    e.Not(
                        e.And(
                            (e.Compare(">=", e.Cell(0, 1), e.Cell(0, 0)), e.Compare("<=", e.Cell(0, 1), e.Constant(9)))
                        )
                    ),
                    e.Case((e.When(e.Is(e.Cell(2, 0), "NULL"), e.Cell(3, 1)),), e.Cell(1, 0)),
                )
            ),
        ),
    ],
)
def test_conditions(flink: Analysis, define: str, values: list[str], condition: e.Expression) -> None:
    match = _match(flink, _query(define, measures="MATCH_NUMBER() AS n"))
    assert match.search.conditions == (None, condition)
    assert _values(match) == values


def test_clauses(flink: Analysis) -> None:
    match = _match(
        flink,
        _query(
            order="ts, amount DESC",
            after="AFTER MATCH SKIP TO FIRST B",
            pattern="A B{2} C*? A",
            rest="WITHIN INTERVAL '5' SECOND SUBSET S = (A, C)",
            measures="LAST(S.amount) AS s",
        ),
    )
    assert (match.search.variables, match.search.subsets) == (("A", "B", "C"), ((0, 2),))
    assert (match.search.skip, match.search.within) == (Skip("FIRST", 1), 5000)
    assert [o.descending for o in match.order] == [True]
    assert match.search.measures == (e.Cell(0, 4),)


@pytest.mark.parametrize(
    ("clauses", "bound"),
    [
        ({"rest": "WITHIN INTERVAL '5' SECOND"}, "rows of 5000 ms"),
        ({"pattern": "A B{2,5}? A"}, "7 rows of each key"),
        ({"pattern": "A B+ A"}, "kept for ever"),
    ],
)
def test_explain(flink: Analysis, clauses: dict[str, str], bound: str) -> None:
    text = as_text(flink.plan(_query(**clauses)))
    assert f"Match(MATCH_RECOGNIZE by user_name in the order of ts; state: {bound})" in text


def test_a_state_that_nothing_bounds_is_refused_where_asked_for(flink: Analysis) -> None:
    flink.run("SET 'sqlext.unbounded-state' = 'error'")
    flink.plan(_query())
    flink.refuse(_query(pattern="A B+ A"), "STATE-001", "clicks MATCH")


def test_all_rows_have_the_columns_of_the_row(standard: Analysis) -> None:
    columns = standard.columns(_query(rows="ALL ROWS PER MATCH", measures="RUNNING SUM(amount) AS s"))
    assert list(columns) == ["user_name", "s", "amount", "ts", "extra", "tags"]


@pytest.mark.parametrize(
    "pattern",
    ["A B+", "A+ B* A", "A | B", "(A B)+", "A B??", "PERMUTE(A, B)"],
)
def test_patterns_of_the_standard(standard: Analysis, pattern: str) -> None:
    assert _match(standard, _query(pattern=pattern)).search.standard


def test_steps_of_the_partition(standard: Analysis) -> None:
    match = _match(standard, _query("B AS PREV(B.amount) < NEXT(LAST(A.amount, 1), 2)"))
    assert match.search.conditions[1] == e.Compare("<", e.Cell(0, 1, shift=-1), e.Cell(0, 0, offset=1, shift=2))


@pytest.mark.parametrize(
    ("clauses", "code", "at"),
    [
        ({"pattern": "A B+"}, "MATCH-009", "B+"),
        ({"pattern": "A+ B? A"}, "MATCH-010", "B?"),
        ({"pattern": "A B?? A"}, "MATCH-011", "B??"),
        ({"pattern": "A | B"}, "MATCH-011", "A | B"),
        ({"pattern": "(A B)+ A"}, "MATCH-011", "A B)+"),
        ({"pattern": "A {- B -}"}, "MATCH-005", "{- B"),
        ({"pattern": "^ A B"}, "MATCH-005", "^"),
        ({"pattern": "A{20000} B"}, "MATCH-002", "A{20000}"),
        ({"rows": "ALL ROWS PER MATCH"}, "MATCH-006", "ALL ROWS"),
        ({"order": "amount"}, "MATCH-007", "amount MEASURES"),
        ({"order": "ts DESC"}, "MATCH-007", "ts DESC"),
        ({"define": "B AS PREV(B.amount) > 1"}, "MATCH-008", "PREV"),
        ({"define": "C AS TRUE"}, "MATCH-004", "C AS"),
        ({"define": "B AS TRUE, B AS FALSE"}, "MATCH-004", "B AS FALSE"),
        ({"define": "B AS C.amount > 1"}, "MATCH-004", "C.amount"),
        ({"define": "B AS B.nothing > 1"}, "NAME-003", "B.nothing"),
        ({"define": "B AS B.amount"}, "MATCH-015", "B.amount)"),
        ({"define": "B AS B.ts > A.user_name"}, "MATCH-014", "B.ts >"),
        ({"define": "B AS B.user_name = A.amount"}, "TYPE-001", "B.user_name ="),
        ({"define": "B AS CONCAT(LAST(A.user_name), LAST(A.user_name, 1)) = 'x'"}, "MATCH-014", "CONCAT"),
        ({"define": "B AS CONCAT(LAST(A.user_name, 1), A.user_name) = 'x'"}, "MATCH-014", "CONCAT"),
        ({"define": "B AS CONCAT(A.user_name, B.user_name) = 'x'"}, "MATCH-014", "CONCAT"),
        ({"define": "B AS STDDEV_POP(B.amount) > 1"}, "MATCH-014", "STDDEV"),
        ({"define": "B AS SUM(A.amount + B.amount) > 1"}, "MATCH-012", "SUM"),
        ({"define": "B AS LAST(A.amount, B.amount) > 1"}, "MATCH-013", "LAST"),
        ({"define": "B AS LAST(LAST(A.amount)) > 1"}, "MATCH-013", "LAST(A.amount)"),
        ({"measures": "SUM(A.amount * B.amount) AS s"}, "MATCH-012", "SUM"),
        ({"measures": "SUM(LAST(A.amount)) AS s"}, "MATCH-013", "SUM"),
        ({"measures": "COUNT(DISTINCT A.amount) AS s"}, "MATCH-014", "COUNT"),
        ({"measures": "NEXT(A.amount) AS s"}, "MATCH-008", "NEXT"),
        ({"order": "pt", "measures": "MATCH_ROWTIME() AS s"}, "MATCH-016", "MATCH_ROWTIME()"),
        ({"measures": "MATCH_ROWTIME(amount) AS s"}, "MATCH-016", "MATCH_ROWTIME(amount)"),
        ({"after": "AFTER MATCH SKIP TO LAST C"}, "MATCH-004", "C PATTERN"),
        ({"rest": "WITHIN INTERVAL '0' SECOND"}, "MATCH-015", "INTERVAL '0'"),
        ({"rest": "SUBSET A = (B)"}, "MATCH-004", "A = (B)"),
        (
            {"table": "(SELECT user_name, COUNT(*) AS amount, PROCTIME() AS ts FROM clicks GROUP BY user_name) "},
            "MATCH-017",
            "(SELECT user_name",
        ),
    ],
)
def test_refusals(flink: Analysis, clauses: dict[str, str], code: str, at: str) -> None:
    flink.refuse(_query(**clauses), code, at)


@pytest.mark.parametrize(
    ("define", "value"),
    [
        ("B AS B.ts < LAST(A.ts, 1) + INTERVAL '30' MINUTE", "(A.ts) + INTERVAL '30' MINUTE"),
        ("B AS B.ts > LAST(A.ts, 1) - INTERVAL '1' MONTH", "(A.ts) - INTERVAL '1' MONTH"),
        ("B AS B.amount > CAST(LAST(A.user_name, 1) AS INT)", "CAST((A.user_name) AS INT)"),
        ("B AS B.user_name = LAST(A.user_name, 1) || LAST(A.extra.b.c, 1)", "(A.user_name) || (A.extra.b.c)"),
    ],
)
def test_what_looks_at_one_other_row_is_computed_of_each_row(flink: Analysis, define: str, value: str) -> None:
    match = _match(flink, _query(define, pattern="A+ B"))
    assert value in _values(match)
    condition = match.search.conditions[1]
    assert isinstance(condition, e.Compare)
    strict = "||" not in value
    assert (condition.right == e.Cell(_values(match).index(value), 0, offset=1)) == strict
    assert (f"absent {value}" in _values(match)) != strict


@pytest.mark.parametrize(
    ("define", "value"),
    [
        ("B AS B.user_name > SUM(A.amount)", "CAST(B.user_name AS BIGINT)"),
        ("B AS B.user_name < AVG(CAST(A.amount AS DOUBLE))", "CAST(B.user_name AS DOUBLE)"),
        ("B AS A.amount >= LAST(B.user_name)", "CAST((B.user_name) AS BIGINT)"),
    ],
)
def test_a_text_that_meets_a_number_is_read_as_one(flink: Analysis, define: str, value: str) -> None:
    assert value in _values(_match(flink, _query(define, pattern="A+ B")))


def test_in_batch_mode(flink: Analysis) -> None:
    """The operator runs once over rows that are all there; by rowtime, as they have no order of arrival."""
    flink.run("SET 'execution.runtime-mode' = 'batch'")
    compiled = flink.run(_query())
    assert compiled is not None
    assert not compiled.plan.streaming
    assert any(isinstance(s, OperatorView) for s in compiled.script.steps)
    flink.refuse(_query(order="pt"), "MATCH-017", "pt")
