"""The settings of a local Spark."""

from __future__ import annotations

from pathlib import Path

from sqlext.spark.local import configuration


def test_packages_and_what_is_left_out_stand_beside_ours(tmp_path: Path) -> None:
    ours, both = (configuration(1, tmp_path, *more) for more in (([],), (["g:m:1"], ["g:bundle"])))
    for name, added in (("spark.jars.packages", "g:m:1"), ("spark.jars.excludes", "g:bundle")):
        assert both.get(name) == f"{ours.get(name)},{added}"
