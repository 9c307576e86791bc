"""Let Spark forget with how many partitions a checkpoint was made: that is its own defence."""

from __future__ import annotations

import json

from sqlext.stores.location import Location


def forget(location: Location) -> None:
    """Take the number out of each entry of its log of offsets."""
    assert location.path is not None
    for entry in (location.path / "checkpoint" / "offsets").glob("[0-9]*"):
        lines = entry.read_text().splitlines()
        said = json.loads(lines[1])
        said["conf"].pop("spark.sql.shuffle.partitions", None)
        (entry.parent / f".{entry.name}.crc").unlink(missing_ok=True)
        entry.write_text("\n".join([lines[0], json.dumps(said), *lines[2:]]))
