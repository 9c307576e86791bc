"""One of several processes that change the same catalog: ``commit_worker.py MODE FOLDER WORKER COUNT``."""

from __future__ import annotations

import sys

from sqlext.errors import SqlExtError
from sqlext.types import INT
from sqlext_catalog import ddl
from sqlext_catalog.model import DEFAULT_CATALOG, DEFAULT_DATABASE, Column, ObjectName, Table
from sqlext_catalog.store import CatalogStore


def name(text: str) -> ObjectName:
    return ObjectName(DEFAULT_CATALOG, DEFAULT_DATABASE, text)


def main(mode: str, folder: str, worker: str, count: str) -> None:
    store = CatalogStore(folder)
    print("ready", flush=True)
    sys.stdin.readline()
    for n in range(int(count)):
        if mode == "create":
            store.commit(ddl.create(Table(name(f"t_{worker}_{n}"), ())), f"CREATE {worker} {n}")
        elif mode == "alter":
            store.commit(ddl.set_options(name("shared"), {f"o_{worker}_{n}": "x"}), f"ALTER {worker} {n}")
        else:
            same_name(store, n, worker)


def same_name(store: CatalogStore, n: int, worker: str) -> None:
    table = Table(name(f"same_{n}"), (Column(f"c_{worker}", INT),))
    try:
        store.commit(ddl.create(table), f"CREATE {worker}")
        print(f"{n} won", flush=True)
    except SqlExtError as error:
        print(f"{n} {error.code}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
