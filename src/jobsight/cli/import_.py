"""``jobsight import``: put what others have kept of jobs into the store."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobsight.cli.common import ConfigOption, JsonOption, StoreOption, load_settings
from jobsight.cli.output import files_and_reasons, note, print_json, progress_bar, say, tell_unread
from jobsight.errors import SourceError, UsageError
from jobsight.format import moment, size, timestamp
from jobsight.history.importers import FileImport, Mapped, Options
from jobsight.history.importers.base import BadRow
from jobsight.history.importers.tally import JobTally, Mark
from jobsight.history.slurm.sacct import FIELDS
from jobsight.store import open_store
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.documents import JobDocument
    from jobsight.store import Store

__all__ = ["ImportRun", "import_"]

_FORMATS = (
    "auto", "sacct", "sacct-json", "slurmdbd", "squeue", "squeue-json", "scontrol", "swf", "eagle",
    "graham", "condor-history", "eventlog",
)  # fmt: skip


def import_(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Files (also gz, bz2, xz, zst), folders, globs, or - for standard input.",
            show_default=False,
        ),
    ],
    format: Annotated[  # noqa: A002
        str, typer.Option(metavar="FORMAT", help=f"One of {', '.join(_FORMATS)}.")
    ] = "auto",
    mapping: Annotated[
        Path | None,
        typer.Option(help="A YAML file that says what the columns of CSV or Parquet files mean."),
    ] = None,
    store: StoreOption = None,
    cluster: Annotated[
        str | None, typer.Option(help="Name of the cluster, where the files have none.")
    ] = None,
    access_point: Annotated[
        str | None, typer.Option(help="Name of the access point (default: as the files say).")
    ] = None,
    timezone: Annotated[
        str | None,
        typer.Option(help="Zone of times without one, e.g. Europe/Paris (default: see the docs)."),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            help="Columns of sacct's output without header: names, commas between, - for others."
        ),
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option(help="What separates sacct's columns (default: as its header).")
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Say, too, what each format cannot record.")
    ] = False,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import accounting, traces, histories and event logs into the store of job documents.

    \b
    Formats, and what each never records (--verbose says why):
      sacct           sacct -P or -p, any columns; never: scripts, holds, what was not asked for
      sacct-json      sacct --json; never: scripts, holds
      slurmdbd        its <cluster>_job_table, CSV; never: users' names, steps, GPUs
      squeue          snapshots of its queue, a line per job and look; never: requests, ends
      squeue-json     squeue --json, scontrol show job --json; never: scripts, usage
      scontrol        scontrol show job; never: the cluster's name, scripts, usage
      swf             Parallel Workloads Archive; never: names, scripts, exit codes, causes
      eagle           NREL Eagle, CSV or Parquet; never: task numbers, exit codes, usage
      graham          Graham/Cedar queue table; never: users, exit codes, jobs not waiting at noon
      condor-history  condor_history -l or -json; never: earlier holds, releases, evictions
      eventlog        HTCondor event logs; never: requests and users without event 028
    """  # noqa: D301
    if delimiter == "":
        raise UsageError("--delimiter needs at least one character")
    if mapping is not None and format != "auto":
        raise UsageError("--mapping says what the files are; leave --format out")
    settings = load_settings(config, {"store": store, "timezone": timezone})
    importer = None if mapping is None else Mapped(mapping)
    with progress_bar("importing", reads_logs=True) as progress:
        options = Options(
            cluster=cluster,
            access_point=access_point or settings.access_point,
            timezone=timezone,
            slurm_timezone=settings.slurm.timezone,
            site_timezone=settings.timezone,
            columns=_columns(columns),
            delimiter=delimiter,
            most_tasks=settings.slurm.array_tasks,
            progress=progress,
        )
        run = ImportRun(FileImport(files, format=importer or format, options=options))
        try:
            with open_store(settings=settings.store, create=True) as target:
                run.into(target)
        except KeyboardInterrupt:
            raise SourceError(
                f"interrupted after {counted(run.report.rows, 'row')}: what was imported stays in "
                "the store; repeat the command to go on"
            ) from None
    if as_json:
        print_json(run.as_json())
    else:
        run.print(verbose=verbose)
    tell_unread(run.report.unreadable, run.report.rows)


def _columns(text: str | None) -> tuple[str, ...] | None:
    """The names in ``JobID,State%10, …``."""
    if text is None:
        return None
    names = tuple(name.partition("%")[0].strip() for name in text.split(","))
    if not {"jobid", "jobidraw"} & {name.lower() for name in names} or not all(names):
        raise UsageError("--columns names the columns in their order, JobID among them")
    fields = {field.lower(): field for field in FIELDS}
    for name in names:
        if name.lower() not in fields and name != "-":
            near = [fields[one] for one in get_close_matches(name.lower(), fields, 3)]
            hint = f"did you mean {' or '.join(near)}?" if near else "sacct --helpformat lists them"
            raise UsageError(f"--columns: sacct has no column {name[:40]!r}; {hint}")
    return names


class ImportRun:
    """One import: `report` has what was read, `tally` what became of it, in so many seconds."""

    def __init__(self, reading: FileImport) -> None:
        self.report, self.tally, self.seconds = reading.report, JobTally(), 0.0
        self._reading = reading
        self._refused = 0

    def into(self, store: Store) -> None:
        """Do it: while one batch is stored, the next one is read.

        Raises:
            JobsightError: a file is not of its format, or the store fails; what was imported
                before stays, and importing again adds the rest.
        """
        started = time.perf_counter()
        with ThreadPoolExecutor(1, "jobsight-store") as storing:
            before: Future[None] | None = None
            for batch in self._reading.batches():
                if before is not None:
                    before.result()
                before = storing.submit(self._store, store, batch)
            if before is not None:
                before.result()
        self.seconds = time.perf_counter() - started

    def _store(self, store: Store, batch: list[JobDocument]) -> None:
        merged = store.merge(batch)
        self.tally.add((one.new for one in merged.changes if one.old is None), Mark.NEW)
        self.tally.add((one.new for one in merged.changes if one.old is not None), Mark.CHANGED)
        changed = {change.new.id for change in merged.changes}
        rest = {one.id for one in batch} - changed - {id_ for id_, _ in merged.refused}
        if rest:
            self.tally.add((one.document for one in store.get(rest).values()), Mark.UNCHANGED)
        for id_, reason in merged.refused:
            self._refused += 1
            self.report.note(f"{printable(id_, 80)} was left out: {printable(reason)}")
        self.tally.span(batch)

    def as_json(self) -> dict[str, Any]:
        """The summary for machines."""
        report, tally = self.report, self.tally
        return {
            "files": [{"file": name, "format": kind} for name, kind in report.files],
            "bytes": report.bytes,
            "rows": report.rows,
            "bad_rows": report.bad,
            "first_bad_rows": [*map(BadRow.as_json, report.first_bad)],
            "bad_values": report.doubts,
            "first_bad_values": [*map(BadRow.as_json, report.first_doubts)],
            "breaks": files_and_reasons(report.breaks),
            "unreadable": files_and_reasons(report.unreadable),
            "jobs": tally.by_mark(),
            "refused": self._refused,
            "states": dict(tally.by_state()),
            "first": timestamp(tally.first),
            "last": timestamp(tally.last),
            "unknowable": {
                one.name: [lack._asdict() for lack in one.unknowable]
                for one in self._reading.importers
            },
            "notes": report.notes,
            "seconds": round(self.seconds, 3),
        }

    def print(self, *, verbose: bool) -> None:
        """The summary for people; errors on standard error."""
        report, tally = self.report, self.tally
        jobs = tally.by_mark()
        say(
            f"{counted(sum(jobs.values()), 'job')} from {counted(report.rows, 'row')} of "
            f"{counted(len(report.files), 'file')} ({size(report.bytes)}) in {self.seconds:.1f} s"
        )
        say("  " + ", ".join(f"{number:,} {mark}" for mark, number in jobs.items()))
        if tally.first is not None:
            say(f"  from {moment(tally.first)} to {moment(tally.last)}")
        for state, count in tally.by_state().most_common():
            say(f"  {state:<16}{count:>12,}")
        for importer in self._reading.importers if verbose else ():
            say(f"what {importer.name} cannot record:")
            for lack in importer.unknowable:
                say(f"  {printable(lack.what)}: {printable(lack.why)}")
        for text in report.said():
            note(text)
