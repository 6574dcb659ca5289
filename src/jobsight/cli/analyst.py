"""A process of the service that analyses scripts: ``python -m jobsight.cli.analyst PARENT``.

It takes tasks as lines of JSON on standard input, one after another, and answers each with a line
of JSON on standard output: ``answer``, or ``error`` (a class of `jobsight.errors`) and ``text``;
``last``: it ends now, and another is to be started.

It ends with its parent. The kernel kills it, and with it the programs that it has started, when a
task takes more CPU time than `jobsight.program.limited` lets it take.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import resource
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from jobsight.cli.terminal import TERMINAL, Terminal
from jobsight.commands import die_with, lower_limit, status_kb
from jobsight.errors import JobsightError, SourceError
from jobsight.program.limited import CPU_S, LimitError

__all__ = ["main", "printed_by"]

_SPARE_S = 5.0
"""Seconds of CPU time beyond the limit of one script, until the kernel ends the process."""
_MOST_TASKS, _MOST_RESIDENT_KB = 500, 600 << 10
_MOST_WRITTEN = 64 << 20


def main(parent: int) -> None:
    """Work until standard input ends."""
    die_with(parent)
    os.setpriority(os.PRIO_PROCESS, 0, 5)  # the service itself goes first
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    lower_limit(resource.RLIMIT_CORE, 0)
    lower_limit(resource.RLIMIT_FSIZE, _MOST_WRITTEN)
    for done, line in enumerate(sys.stdin.buffer, 1):
        used = resource.getrusage(resource.RUSAGE_SELF)
        most = used.ru_utime + used.ru_stime + _SPARE_S
        task = json.loads(line)
        lower_limit(resource.RLIMIT_CPU, math.ceil(most + CPU_S * task.pop("scripts", 1)))
        try:
            answer = {"answer": _TASKS[task.pop("do")](**task)}
        except JobsightError as error:
            answer = {"error": type(error).__name__, "text": str(error)}
        except (LimitError, MemoryError, RecursionError) as error:
            answer = {"error": "SourceError", "text": f"the script takes too much: {error}"}
        last = done >= _MOST_TASKS or status_kb("VmRSS") > _MOST_RESIDENT_KB
        answers.write(json.dumps({**answer, "last": last}).encode() + b"\n")
        answers.flush()
        if last:
            return


def _check(name: str, text: str, options: list[str], ignored: list[str]) -> dict[str, Any]:
    from jobsight.program.preflight.check import Checker
    from jobsight.program.site import Site

    return Checker(Site.lately(), tuple(ignored), tuple(options)).sent(name, text).to_json()


def _bound(name: str, text: str, model: str) -> dict[str, Any]:
    from jobsight.files import MANIFEST, without_nan

    folder = Path(model)
    answerer = _answerer(folder, (folder / MANIFEST).stat().st_mtime_ns)
    answer: dict[str, Any] = without_nan(answerer.of_text(name, text).to_json())
    return answer


@lru_cache(2)
def _answerer(folder: Path, _written: int) -> Any:
    """Answers by the model in a folder, opened once while it is the same."""
    from jobsight.clock import now_micros
    from jobsight.learning.modeldir import ModelDir
    from jobsight.questions.bound.answering import Answerer
    from jobsight.questions.bound.question import BOUND_QUESTION

    return Answerer(ModelDir.open(folder, BOUND_QUESTION, only_chosen=True), now_micros())


def _command(
    words: list[str], folder: str, encoding: str, columns: int | None, colours: bool
) -> str:
    token = TERMINAL.set(Terminal(columns, colours))
    try:
        os.chdir(folder)
        return printed_by(words, encoding).decode("latin-1")
    except OSError as error:
        raise SourceError(f"{folder}: {error.strerror}") from None
    finally:
        TERMINAL.reset(token)
        os.chdir("/")


_TASKS: dict[str, Callable[..., Any]] = {"check": _check, "bound": _bound, "command": _command}


def printed_by(words: list[str], encoding: str) -> bytes:
    """What a command prints: ``STATUS LENGTH``, standard output of that length, and the rest."""
    from jobsight.cli.main import main as run

    buffers = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(buffer, encoding, "replace") for buffer in buffers)
    status: object = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            run(words)
    except SystemExit as leaving:
        status = leaving.code or 0
    out.flush()
    err.flush()
    printed, said = (buffer.getvalue() for buffer in buffers)
    return f"{status} {len(printed)}\n".encode() + printed + said


if __name__ == "__main__":
    main(int(sys.argv[1]))
