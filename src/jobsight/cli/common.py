"""What all verbs share: options, progress on standard error, JSON on standard output."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from jobsight.cli.modelnames import MODEL_HELP, model_folder
from jobsight.errors import OutputError
from jobsight.files import Kind, require_replaceable
from jobsight.modes import set_group_access
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.cli.reading import Reading
    from jobsight.documents import JobDocument
    from jobsight.history.readreport import ReadReport
    from jobsight.history.timelines import History
    from jobsight.learning.manifest import Source
    from jobsight.questions.hold.training.model import HoldModel
    from jobsight.settings import Settings
    from jobsight.store import Store

__all__ = [
    "SHOWN",
    "Case",
    "ClusterOption",
    "ConfigOption",
    "JsonOption",
    "LogArguments",
    "ModelOption",
    "NetworkOption",
    "SinceOption",
    "StateOption",
    "StoreOption",
    "TimezoneOption",
    "UntilOption",
    "UserOption",
    "check_output",
    "document_text",
    "flush",
    "load_settings",
    "note",
    "open_case",
    "open_store",
    "print_documents",
    "print_json",
    "progress_bar",
    "read_events_of",
    "read_history",
    "say",
    "stages",
    "table",
]

SHOWN = 10
"""Files, or places in them, that are listed on standard error."""

LogArguments = Annotated[
    list[str],
    typer.Argument(
        metavar="LOG...",
        help="Event logs: files (also gz, bz2, xz, zst), folders, tar and zip archives, globs, "
        "or - for standard input; a store (sqlite:///PATH, redis://HOST, or store: for the one "
        "that is set); a folder that `store export` wrote.",
        show_default=False,
    ),
]
TimezoneOption = Annotated[
    str | None,
    typer.Option(help="Time zone of log times without one, e.g. Europe/Paris (default: local)."),
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="Settings file (YAML), read after the usual ones.")
]
NetworkOption = Annotated[
    str | None,
    typer.Option(
        help="Network of the lstm: lstm, lstm-flat, or your own as module:Class "
        "(the current folder is searched too)."
    ),
]
ModelOption = Annotated[str, typer.Option("--model", help=MODEL_HELP)]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="The store: a path, sqlite:///PATH, redis://HOST (default: JOBSIGHT_STORE, settings).",
        show_default=False,
    ),
]
ClusterOption = Annotated[
    str | None, typer.Option(help="Of this Slurm cluster or HTCondor access point.")
]
UserOption = Annotated[str | None, typer.Option(help="Submitted by this user.")]
StateOption = Annotated[
    list[str] | None,
    typer.Option(
        help="pending, held, running, failed …, a word of Slurm's, active or ended; repeatable."
    ),
]
SinceOption = Annotated[
    str | None,
    typer.Option(help="Something happened since: a time, or a span until now such as 2h, 7d."),
]
UntilOption = Annotated[
    str | None, typer.Option(help="Nothing happened later: a time, or a span before now.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object for machines.")]


def load_settings(config: Path | None, overrides: dict[str, Any]) -> Settings:
    """The settings of all places, with those of flags (None: not given) on top."""
    from jobsight.settings import Settings

    settings = Settings.load(_given(overrides), config=config)
    set_group_access(settings.group_access)
    return settings


def open_store(settings: Settings) -> Store:
    """The store that the settings name; one that is not there is no more made than changed.

    Raises:
        StoreError: there is none, or it cannot be read; `UsageError`: its address is no address.
    """
    from jobsight.store import open_store as open_at

    return open_at(settings=settings.store)


def _given(tree: dict[str, Any]) -> dict[str, Any]:
    pruned = {key: _given(item) if isinstance(item, dict) else item for key, item in tree.items()}
    return {key: item for key, item in pruned.items() if item is not None and item != {}}


def check_output(output: Path | None, kind: Kind, *, model: Path | None = None) -> None:
    """Refuse an output that would harm what is there: call it before any work is done.

    Args:
        output: the file or folder to write; None: nothing is checked.
        kind: of the output.
        model: a model directory that is read: nothing may be written into it.

    Raises:
        OutputError: it is in the model, or replaces what it may not (see `require_replaceable`).
    """
    if output is None:
        return
    if model is not None and output.resolve().is_relative_to(model.resolve()):
        raise OutputError(f"{output} is in the model directory; name another place to write")
    require_replaceable(output, kind)


def print_json(value: Any) -> None:
    """Print `value` as one strict JSON document; NaN becomes null."""
    from jobsight.files import without_nan

    say(json.dumps(without_nan(value), indent=1, ensure_ascii=True, allow_nan=False))


def print_documents(documents: Iterable[JobDocument]) -> None:
    """Print job documents as one JSON list, a document a line, written while they are read."""
    before = "["
    for document in documents:
        say(before + document_text(document), end="")
        before = ",\n"
    say("[]" if before == "[" else "]")


def document_text(document: JobDocument) -> str:
    """A job document as one line of JSON, of ASCII letters that no terminal obeys."""
    from jobsight.documents import to_json

    text = json.dumps(to_json(document), ensure_ascii=True, separators=(",", ":"))
    return text.replace("\x7f", "\\u007f")


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
    """Write to standard error what is worth knowing beside the answer, if anybody can be told."""
    with contextlib.suppress(OSError):
        sys.stderr.write(text + "\n")


@contextlib.contextmanager
def progress_bar(label: str, *, reads_logs: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error, if that is a terminal; yields ``report(done, total)``.

    Args:
        label: what is done.
        reads_logs: by the reader of event logs, which the first run has to compile.
    """
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
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
        task = progress.add_task(_first_label(label) if reads_logs else label, total=None)

        def report(done: int, total: int) -> None:
            progress.update(task, description=label, completed=done, total=total or None)

        yield report


def _first_label(label: str) -> str:
    from jobsight.history.eventlog.scanner import scan
    from jobsight.jit import is_compiled

    return label if is_compiled(scan) else "compiling the reader, once"


@contextlib.contextmanager
def stages() -> Iterator[Callable[[str], None]]:
    """On standard error, if that is a terminal: what is being done; yields ``report(step)``."""
    if not sys.stderr.isatty():
        yield lambda _step: None
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield status.update


def read_history(
    logs: list[str], settings: Settings, *, hashed: bool = True
) -> tuple[History, ReadReport, list[Source]]:
    """Read logs, stores and snapshots, and index them; damage is told on standard error.

    Args:
        logs: files, folders, archives, globs, ``-``; stores (see `jobsight.cli.reading`).
        settings: zone and access point.
        hashed: False: no sources are told (see `read_inputs`).
    """
    from jobsight.errors import SourceError
    from jobsight.history.timelines import History

    reading = read_events_of(logs, settings, hashed=hashed)
    if not reading.report.events:
        names = reading.names or logs
        raise SourceError(f"no event record in {', '.join(map(printable, names))}")
    return History.from_table(reading.table), reading.report, reading.sources


def read_events_of(logs: list[str], settings: Settings, *, hashed: bool = True) -> Reading:
    """The event table of logs, stores and snapshots; damage is told on standard error.

    Its `sources` are left out unless `hashed`.
    """
    from jobsight.cli.reading import read_inputs, tell_unread

    with progress_bar("reading", reads_logs=True) as progress:
        reading = read_inputs(logs, settings, progress, hashed=hashed)
    tell_unread(reading.report.unreadable, reading.report.events)
    _tell_skipped(reading.report)
    if reading.shortened:
        note(
            f"of {reading.shortened} jobs that had very many events, those of the middle were "
            "not kept"
        )
    return reading


def _tell_skipped(report: ReadReport) -> None:
    if report.skipped:
        first = report.skipped[0]
        note(
            f"{len(report.skipped)} damaged stretches were skipped, the first in "
            f"{printable(first.file)} at byte {first.offset}: {first.reason}; "
            "`jobsight events` lists all"
        )


@dataclass(frozen=True)
class Case:
    """A trained model and logs to hold it against."""

    settings: Settings
    model: HoldModel
    history: History
    read: ReadReport


def open_case(
    logs: list[str],
    model: str,
    *,
    timezone: str | None,
    config: Path | None,
    network: str | None,
    output: Path | None = None,
    kind: Kind = Kind.REPORT,
) -> Case:
    """Load the settings, open the model, read the logs; `output` is checked first.

    Raises:
        JobsightError: see `load_settings`, `model_folder`, `HoldModel.open`, `read_history`,
            `check_output`.
    """
    from jobsight.questions.hold.training.model import HoldModel

    settings = load_settings(config, {"timezone": timezone, "hold": {"lstm": {"network": network}}})
    folder = model_folder(model, settings)
    check_output(output, kind, model=folder)
    trained = HoldModel.open(folder, network=settings.hold.lstm.network)
    history, read, _ = read_history(logs, settings)
    return Case(settings, trained, history, read)


def table(headings: list[str], rows: list[list[str]], spare: Sequence[str] = ()) -> str:
    """A table of plain text: the first column to the left, the others to the right.

    Args:
        headings: of the columns.
        rows: cells without control characters.
        spare: headings of columns that a narrow terminal does without, the first of them first.
    """
    from jobsight.cli.terminal import Column, grid, width

    columns = [
        Column(name, right=k > 0, spare=len(spare) - spare.index(name) if name in spare else 0)
        for k, name in enumerate(headings)
    ]
    return "\n".join(grid(columns, rows, most=width() if spare else None))
