"""What a reader of a sink sees at any moment is the answer over a prefix of the input: the bank never loses money.

The question is that of "Internal consistency in streaming systems": transfers move money between accounts, so that all
balances together are nothing, always. A system that gives each side of a join by itself shows other sums meanwhile.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest
from deltalake import DeltaTable

from tests.workspace import Row, Workspace

_ACCOUNTS = "abcd"
_BANK = """
SET 'sqlext.bounded' = 'catch-up';
CREATE TABLE transfers (payer STRING, payee STRING, amount BIGINT) WITH (
  'connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv', 'maxFilesPerTrigger' = '1');
CREATE VIEW credits AS SELECT payee AS account, SUM(amount) AS credit FROM transfers GROUP BY payee;
CREATE VIEW debits AS SELECT payer AS account, SUM(amount) AS debit FROM transfers GROUP BY payer;
CREATE VIEW balance AS SELECT c.account, c.credit - d.debit AS balance
FROM credits AS c JOIN debits AS d ON c.account = d.account;
CREATE TABLE balances (account STRING, balance BIGINT, PRIMARY KEY (account) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/balances');
CREATE TABLE total (one INT, total BIGINT, PRIMARY KEY (one) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/total');
CREATE TABLE pairs (payer STRING, n BIGINT, PRIMARY KEY (payer) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/pairs');
BEGIN STATEMENT SET;
INSERT INTO balances SELECT account, balance FROM balance;
INSERT INTO total SELECT 1, SUM(balance) FROM balance;
INSERT INTO pairs SELECT x.payer, COUNT(*) FROM transfers AS x JOIN transfers AS y ON x.payer = y.payer
GROUP BY x.payer;
END;
"""


def transfers(chance: random.Random) -> list[tuple[str, str, int]]:
    """Return transfers by which each account is a payer and a payee."""
    ring = [(a, b, chance.randrange(1, 99)) for a, b in zip(_ACCOUNTS, _ACCOUNTS[1:] + _ACCOUNTS[:1], strict=True)]
    others = [(*chance.sample(_ACCOUNTS, 2), chance.randrange(1, 99)) for _ in range(6)]
    found = [(str(a), str(b), int(n)) for a, b, n in (*ring, *others)]
    chance.shuffle(found)
    return found


def versions(workspace: Workspace, name: str) -> Iterator[list[Row]]:
    """Yield the rows of each version of a table: what a reader has seen at any moment, without what comes twice."""
    table = DeltaTable(str(workspace.folder / "out" / name))
    last: list[Row] | None = None
    for version in range(table.version() + 1):
        table.load_as_version(version)
        rows = sorted(tuple(row.values()) for row in table.to_pyarrow_table().to_pylist())
        if rows and rows != last:
            last = rows
            yield rows


def balances(rows: list[tuple[str, str, int]]) -> list[Row]:
    """Return what the query gives in batch mode."""
    credit: Counter[str] = Counter()
    debit: Counter[str] = Counter()
    for payer, payee, amount in rows:
        credit[payee] += amount
        debit[payer] += amount
    return sorted((account, credit[account] - debit[account]) for account in set(credit) & set(debit))


def pairs(rows: list[tuple[str, str, int]]) -> list[Row]:
    """Return of how many pairs of transfers each payer is the payer."""
    found = Counter(payer for payer, _, _ in rows)
    return sorted((payer, n * n) for payer, n in found.items())


@pytest.mark.slow
def test_the_bank_never_loses_money(workspace: Workspace) -> None:
    chance = random.Random(4)
    files = [transfers(chance) for _ in range(4)]
    for number, rows in enumerate(files):
        workspace.put(f"{number}.csv", *(f"{payer},{payee},{amount}" for payer, payee, amount in rows))
        if number % 2:
            workspace.run(_BANK if number == 1 else _BANK.split(";", 1)[0] + ";" + _BANK[_BANK.index("BEGIN") :])
    prefixes = [[row for rows in files[:n] for row in rows] for n in range(1, len(files) + 1)]
    assert list(versions(workspace, "total")) == [[(1, 0)]]
    seen = list(versions(workspace, "balances"))
    assert seen == [balances(rows) for rows in prefixes]
    assert all(sum(balance for _, balance in rows) == 0 for rows in seen)
    assert list(versions(workspace, "pairs")) == [pairs(rows) for rows in prefixes]
