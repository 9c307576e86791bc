"""Know whether workers run this process's own Python: then nothing is to be asked or shipped."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sqlext.spark.sessions import on_this_machine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def in_this_python(spark: SparkSession) -> bool:
    """Whether Python workers are started from the environment of this process, on this machine."""
    return on_this_machine(spark) and is_this_python(spark.sparkContext.pythonExec)


def is_this_python(command: str) -> bool:
    """Whether a command starts this interpreter, with the packages of this environment."""
    found = shutil.which(command)
    if found is None:
        return False
    # Environments link to one interpreter: the folder tells them apart, and where a link ends tells two versions apart.
    here, there = Path(sys.executable), Path(found)
    return here.parent.absolute() == there.parent.absolute() and here.resolve() == there.resolve()
