"""What is printed: the answer on standard output; progress and errors on standard error."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TextIO

from jobsight.errors import JobError, OutputError, SourceError
from jobsight.files import without_nan
from jobsight.format import percent, span
from jobsight.jit import on_compile
from jobsight.text import printable

__all__ = [
    "SHOWN",
    "Console",
    "answer",
    "files_and_reasons",
    "flush",
    "note",
    "print_json",
    "print_objects",
    "progress_bar",
    "report_problems",
    "say",
    "some_unread",
    "stages",
    "tell_unread",
]

SHOWN = 10
"""Files, or places in them, that are listed on standard error."""

_EVERY_S = 20.0

_unread: list[tuple[str, str]] = []


def print_json(value: Any) -> None:
    """Print `value` as one strict JSON document; NaN becomes null."""
    say(json.dumps(without_nan(value), indent=1, ensure_ascii=True, allow_nan=False))


def print_objects(answers: Sequence[Any], *, single: bool) -> None:
    """Print answers as one list of objects, or the object alone where `single` allows no other."""
    objects = [one.to_json() for one in answers]
    for one in objects if single and len(objects) < 2 else [objects]:
        print_json(one)


def answer(value: Any, text: str | Callable[[], str], *, as_json: bool) -> None:
    """Print an answer: `value` for machines, or `text` (or what it returns) for people."""
    if as_json:
        print_json(value)
    else:
        say(text if isinstance(text, str) else text())


def files_and_reasons(pairs: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """Files with what is wrong with each, for `print_json`."""
    return [{"file": name, "reason": reason} for name, reason in pairs]


def say(text: str, end: str = "\n") -> None:
    """Write to standard output: the answer, nothing else.

    Raises:
        OutputError: it is closed, or what it leads to is full.
        BrokenPipeError: its reader went away.
    """
    with _to_standard_output() as stream:
        stream.write(text + end)


def flush() -> None:
    """Write out what waits for standard output; errors as of `say`."""
    if sys.stdout is not None:
        with _to_standard_output() as stream:
            stream.flush()


@contextlib.contextmanager
def _to_standard_output() -> Iterator[TextIO]:
    if sys.stdout is None:
        raise OutputError("standard output is closed; redirect it to a file or to /dev/null")
    try:
        yield sys.stdout
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"cannot write to standard output: {reason}") from error


def note(text: str) -> None:
    """Write a line to standard error, if that is open."""
    with contextlib.suppress(OSError):
        sys.stderr.write(text + "\n")


def report_problems(problems: Sequence[str]) -> None:
    """Print what is wrong with some of the jobs that were asked for, a line each.

    Raises:
        JobError: with the last of them.
    """
    for line in problems[:-1]:
        note(f"jobsight: {printable(line)}")
    if problems:
        raise JobError(printable(problems[-1]))


@contextlib.contextmanager
def progress_bar(label: str, *, reads_logs: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Progress on standard error: a bar, else lines; yields ``report(done, total)``."""
    if not sys.stderr.isatty():
        with _lines(label) as show:
            yield lambda done, total: show(f"{label}, {percent(done / total)}" if total else label)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as progress:
        task = progress.add_task(label, total=None)

        def report(done: int, total: int) -> None:
            progress.update(task, description=label, completed=done, total=total or None)

        def compiles() -> None:
            progress.update(task, description="compiling the reader, once")

        if reads_logs:
            on_compile.append(compiles)
        try:
            yield report
        finally:
            on_compile.clear()


@contextlib.contextmanager
def _lines(step: str) -> Iterator[Callable[[str], None]]:
    """Every 20 s a line that says what is being done, and for how long; yields ``report(step)``."""
    now, ended, begun = {"step": step}, threading.Event(), time.monotonic()

    def write() -> None:
        while not ended.wait(_EVERY_S):
            note(f"jobsight: {now['step']} ({span(time.monotonic() - begun)})")

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        yield lambda step: now.update(step=step)
    finally:
        ended.set()
        writer.join()


@contextlib.contextmanager
def stages() -> Iterator[Callable[[str], None]]:
    """What is being done, on standard error, as `progress_bar`; yields ``report(step)``."""
    if not sys.stderr.isatty():
        with _lines("working") as show:
            yield show
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield status.update


def tell_unread(unreadable: Sequence[tuple[str, str]], events: int) -> None:
    """List files that could not be read; the answer is given without them, the exit status is 1.

    Raises:
        SourceError: nothing was read.
    """
    if unreadable and not events:
        raise SourceError(unreadable[0][1])
    for _, line in unreadable[:SHOWN]:
        note(f"jobsight: {printable(line)}")
    if len(unreadable) > SHOWN:
        note(f"jobsight: {len(unreadable) - SHOWN} more files could not be read")
    _unread.extend(unreadable)


class Console:
    """What a reading shows on standard error: see `jobsight.learning.reading.Watch`."""

    progress = staticmethod(progress_bar)
    note = staticmethod(note)
    unread = staticmethod(tell_unread)


def some_unread() -> bool:
    """Whether `tell_unread` listed any file since this was asked last."""
    found = bool(_unread)
    _unread.clear()
    return found
