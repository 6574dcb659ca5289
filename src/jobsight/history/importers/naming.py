"""What a trace's cluster is called, where neither the user nor the trace says."""

from __future__ import annotations

import re
from pathlib import PurePath

from jobsight.errors import UsageError
from jobsight.history.eventlog.logfiles import LogFile

__all__ = ["trace_name"]

_ENDINGS = re.compile(r"(\.(swf|csv|psv|txt|parquet|gz|bz2|xz|zst))+$", re.IGNORECASE)


def trace_name(file: LogFile) -> str:
    """The file's name without its endings.

    Raises:
        UsageError: it has no name, being standard input.
    """
    name = _ENDINGS.sub("", PurePath(file.name).name).strip()
    if file.path is None or not name:
        raise UsageError(
            f"nothing tells which cluster the jobs of {file.name!r} ran on; give --cluster NAME"
        )
    return name[:100]
