"""A folder that is not there yet: an error, or an empty one where the table says so."""

from __future__ import annotations

import pytest

from sqlext import SqlExtError
from tests.workspace import Workspace

_TABLES = """
CREATE TABLE later (k STRING, v INT) WITH (
  'connector' = 'filesystem', 'path' = '${IN}/later', 'format' = 'csv', 'source.path.empty-if-not-exists' = '{0}');
CREATE TABLE seen (k STRING, v INT) WITH ('connector' = 'delta', 'path' = '${OUT}/seen');
"""
_COPY = """
SET 'sqlext.source' = '{0}'; SET 'sqlext.bounded' = 'catch-up'; SET 'pipeline.name' = 'by-{0}';
INSERT INTO seen SELECT k, v FROM later;
SET 'execution.runtime-mode' = 'batch';
SELECT COUNT(*) FROM later;
"""


@pytest.mark.costly
def test_a_folder_that_comes_later(workspace: Workspace) -> None:
    workspace.run(_TABLES.replace("{0}", "true"))
    for reader in ("arrow", "spark"):
        assert workspace.run(_COPY.replace("{0}", reader))[-1].rows == [(0,)]
    assert workspace.delta("seen") == []
    (workspace.input / "later").mkdir()
    workspace.put("later/1.csv", "a,1")
    for reader in ("arrow", "spark"):
        assert workspace.run(_COPY.replace("{0}", reader))[-1].rows == [(1,)]
    assert workspace.delta("seen") == [("a", "1")] * 2


@pytest.mark.costly
def test_without_the_option_it_is_an_error(workspace: Workspace) -> None:
    workspace.run(_TABLES.replace("{0}", "false"))
    for reader in ("arrow", "spark"):
        with pytest.raises(SqlExtError) as refused:
            workspace.run(_COPY.replace("{0}", reader))
        assert refused.value.code == "OPT-009"
