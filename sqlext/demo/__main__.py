"""Write the demo's input files into a folder: ``python -m sqlext.demo DIR``. Files that are there stay."""

from __future__ import annotations

import sys

from sqlext.demo.files import prepare
from sqlext.errors import SqlExtError
from sqlext.locations import local_file

if __name__ == "__main__":
    try:
        print("\n".join(prepare(local_file(sys.argv[1] if len(sys.argv) > 1 else "data"))))
    except SqlExtError as e:
        sys.exit(e.render())
