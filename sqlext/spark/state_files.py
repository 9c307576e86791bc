"""Find out whether files of the state that Spark keeps are whole, where Spark says that one is not."""

from __future__ import annotations

from pathlib import Path

#: What RocksDB writes last into a file of a table, and first and last what Java writes of a state's schema.
_TABLE_ENDS = b"\xf7\xcf\xf4\x85\xb7\x41\xe2\x88"
_SCHEMAS, _SCHEMA_BEGINS, _SCHEMA_ENDS = "_stateSchema", b"\x00\x02v", b"}"
#: The changes of a micro-batch, and all that there is: of RocksDB, and of what Spark keeps in memory.
_CHANGES = (".changelog", ".delta", ".snapshot")
#: A block of ``LZ4BlockOutputStream``: this, a byte, three numbers of four bytes, of which the first one is the length
#: of the data behind them. An empty block ends the file.
_BLOCK, _LENGTH_AT, _HEAD = b"LZ4Block", 9, 21
#: How other compressions begin that Spark may be told to use: zstd, snappy, lzf.
_OTHERS = (b"\x28\xb5\x2f\xfd", b"\x82SNAPPY\x00", b"ZV")


def is_whole_state(path: Path, name: Path) -> bool:
    """Return whether a file of state looks whole; of a kind that is not known here, it does.

    Args:
        name: its path below the checkpoint.
    """
    if name.suffix == ".sst":
        return path.read_bytes().endswith(_TABLE_ENDS)
    if name.suffix in _CHANGES:
        return _is_compressed(path.read_bytes())
    if is_schema(name):
        found = path.read_bytes()
        return found.startswith(_SCHEMA_BEGINS) and found.endswith(_SCHEMA_ENDS)
    return True


def is_schema(name: Path) -> bool:
    """Return whether a file is a schema of state, by its path below the checkpoint: Java writes its texts."""
    return _SCHEMAS in name.parts or name.parts[-2:] == ("_metadata", "schema")


def _is_compressed(data: bytes) -> bool:
    """Return whether changes are whole, as far as their compression tells."""
    at = 0
    while data.startswith(_BLOCK, at):
        length = int.from_bytes(data[at + _LENGTH_AT : at + _LENGTH_AT + 4], "little")
        at += _HEAD + length
        if not length:
            return at == len(data)
    return not at and data.startswith(_OTHERS)
