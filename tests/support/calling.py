"""Commands of ``jobsight`` called in this process, which has imported all they need."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from subprocess import CompletedProcess

from jobsight.cli.main import main

__all__ = ["jobsight"]


def jobsight(*words: str | Path) -> CompletedProcess[str]:
    """What a command prints, and how it leaves."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    status: object = None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(list(map(str, words)))
        except SystemExit as leaving:
            status = leaving.code
    printed, said = (stream.buffer.getvalue().decode() for stream in (out, err))
    return CompletedProcess(words, status if isinstance(status, int) else 0, printed, said)
