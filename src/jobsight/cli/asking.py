"""Jobs of a history asked about: by their names, by queue, or as a script with options of sbatch.

What the commands of questions on job tables share: the history as of a moment, the champion of each
cluster, and which jobs are meant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl
import typer

from jobsight.cli.common import caller
from jobsight.cli.output import print_objects, report_problems, stages
from jobsight.cli.reading import has_store, named_model, now, read_for, refuse_before
from jobsight.cli.served import ready_for
from jobsight.clock import format_micros, micros, parse_moment, zone_named
from jobsight.errors import SourceError, UsageError
from jobsight.history.slurm.options import requested
from jobsight.ids import JobName, parse_job_name
from jobsight.learning.desk import Answerer, Desk, indexed, last_recorded, script_row
from jobsight.learning.reading import are_documents
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.history.jobtable import JobTable
    from jobsight.learning.question import Question
    from jobsight.learning.registry import Entry
    from jobsight.settings import Settings

__all__ = [
    "Asked",
    "AtOption",
    "ImportOption",
    "JobsArgument",
    "LogOption",
    "OneOrListOption",
    "SaveOption",
    "asked",
    "open_desk",
    "own_store",
    "title",
]

JobsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[JOBID...|SCRIPT [OPTION...]]",
        help="123, 123_4, 123.4 or a whole id; or a batch script, and options of sbatch.",
    ),
]
LogOption = Annotated[
    list[str] | None, typer.Option(help="Event log, as of `jobsight hold`; repeatable.")
]
ImportOption = Annotated[
    list[str] | None,
    typer.Option("--import", help="File that `jobsight import` reads; repeatable."),
]
AtOption = Annotated[
    str | None, typer.Option(help="As of when (default: now of a store, the end of a file).")
]
SaveOption = Annotated[
    bool,
    typer.Option("--save", help="Keep the answers in the store, in the documents of the jobs."),
]
OneOrListOption = Annotated[
    bool, typer.Option("--json", help="One JSON object for one JOBID or SCRIPT, else a list.")
]

_LARGEST_SCRIPT = 4 << 20


def open_desk(
    question: Question[Any],
    settings: Settings,
    inputs: list[str],
    *,
    store: bool,
    model: str | None,
    at: str | None,
    adapt: Callable[[Answerer[Any]], Answerer[Any]] = lambda one: one,
) -> Desk[Any]:
    """Read a history, as of a moment.

    Args:
        question: that is asked.
        settings: of the call.
        inputs: files; without any, the store.
        store: the call names a store.
        model: a folder, a digest of the registry, or ``none``; None: champions answer.
        at: the moment, as the user writes it; None: now, or the end of files.
        adapt: what is to be done with each answerer.

    Raises:
        JobsightError: nothing can be read, or there is no such model or moment.
    """
    if store or not inputs:
        inputs = [*inputs, own_store(settings, named=store)]
    given = None if at is None else micros(parse_moment(at, zone_named(settings.timezone)))
    opened = named_model(model, settings, question)
    ready = ready_for(inputs, settings, question)
    everything = (
        ready.tables.jobs if ready else read_for(question, inputs, settings, hashed=False)[0]
    )
    live = any(map(are_documents, inputs))
    moment, when = _moment(everything, given, live=live)
    known = everything if moment > last_recorded(everything) else everything.as_of(moment)

    def index(entry: Entry | None) -> Answerer[Any]:
        with stages() as progress:
            progress("indexing")
            if ready is not None and known is everything and opened is None:
                return adapt(ready.index(question, entry))
            if opened is not None:
                return adapt(question.answerer(known, moment, opened))
            return adapt(indexed(question, known, moment, entry))

    return Desk(question, known, moment, when, settings, model is None, index)


@dataclass(frozen=True)
class Asked:
    """What is asked about: jobs by their names, queues, or a script with options of sbatch."""

    names: tuple[JobName, ...] = ()
    queues: Mapping[str, list[str]] = field(default_factory=dict)
    script: tuple[str, tuple[str, ...]] | None = None

    def report(
        self, desk: Desk[Any], *, save: bool, as_json: bool,
        table: Callable[[list[Any]], None], page: Callable[[list[Any]], None],
    ) -> None:  # fmt: skip
        """Answer, and print the answers, after they are saved: their reader may go away.

        Args:
            desk: that answers.
            save: keep the answers in the store.
            as_json: print them as one object, or as a list of objects.
            table: prints answers for queues.
            page: prints answers for jobs that were named, or a script.

        Raises:
            JobsightError: they cannot be saved; or of some names there are none.
        """
        answers, problems = self.answers(desk)
        try:
            if save:
                from jobsight.cli.saving import keep_answers

                problems += keep_answers(desk.question.name, answers, desk.settings, save=True)
        finally:
            if as_json:
                print_objects(answers, single=self.script is not None or len(self.names) == 1)
            else:
                (table if self.queues else page)(answers)
        report_problems(problems)

    def answers(self, desk: Desk[Any]) -> tuple[list[Any], list[str]]:
        """The answers, and what is wrong with the names."""
        if self.script is not None:
            return [_of_script(desk, *self.script)], []
        if self.queues:
            states = [state for queue in self.queues.values() for state in queue]
            return desk.answer(pl.col("state").cast(pl.String).is_in(states)), []
        problems, ids = [], []
        for name in self.names:
            found, problem = desk.find(name)
            ids += found
            problems += [problem] if problem else []
        return desk.answer(pl.col("id").is_in(ids)) if ids else [], problems


def asked(jobs: list[str], queues: Mapping[str, list[str]], *, save: bool, options: str) -> Asked:
    """What a call asks about.

    Args:
        jobs: ids; or a script, and options of sbatch.
        queues: states of the jobs of each queue that is asked for, by its name.
        save: whether answers are to be saved.
        options: the options that name queues, in words.

    Raises:
        UsageError: it asks about nothing, or about both.
    """
    if bool(jobs) == bool(queues):
        raise UsageError(f"name jobs or a script, or ask for {options}")
    if queues:
        return Asked(queues=queues)
    if not jobs[0].startswith("-") and _is_script(jobs[0]):
        if save:
            raise UsageError("the answer for a script cannot be saved: it is not a job yet")
        return Asked(script=(jobs[0], tuple(jobs[1:])))
    for one in jobs:
        if one.startswith("-"):
            raise UsageError(f"no such option: {printable(one, 40)}")
    return Asked(names=tuple(dict.fromkeys(map(parse_job_name, jobs))))


def _is_script(text: str) -> bool:
    try:
        parse_job_name(text)
    except UsageError:
        if not Path(text).is_file():
            raise UsageError(
                f"{printable(text, 60)!r} is neither a job id (123, 123_4, 123.4) nor a file"
            ) from None
        return True
    return False


def _of_script(desk: Desk[Any], path: str, options: tuple[str, ...]) -> Any:
    """The answer for a script as if it were submitted now by the caller."""
    try:
        with Path(path).open("rb") as file:
            text = file.read(_LARGEST_SCRIPT).decode(errors="replace")
    except OSError as error:
        raise SourceError(f"cannot read {printable(path, 80)}: {error.strerror}") from None
    request = requested(text, options)
    return desk.unsubmitted(script_row(desk.jobs, desk.settings, path, text, request, caller()))


def own_store(settings: Settings, *, named: bool) -> str:
    """The store of the settings as an input; `named`: the call names one."""
    if not named and not has_store(settings):
        raise UsageError(
            "name the history: the store with --store URL, or files with --import FILE or --log "
            "FILE"
        )
    return "store:"


def _moment(jobs: JobTable, given: int | None, *, live: bool) -> tuple[int, str]:
    """The moment asked about, and that moment in words."""
    end, first = jobs.end(), jobs.table["seen"].to_physical()[0]
    if given is not None:
        refuse_before(given, first, "job")
        return given, format_micros(given)
    if not live:
        # After the records of the last second.
        return end + 1_000_000, f"{format_micros(end)} (the end of the history)"
    moment = max(end + 1, now())
    return moment, f"{format_micros(moment)} (now; last record {format_micros(end)})"


def title(job: Mapping[str, Any]) -> str:
    """A job of the job table in words, safe to show; one without an id is not submitted yet."""
    whose = f" of {printable(job['owner'], 60)}" if job["owner"] else ""
    if job["id"] is None:
        return f"{printable(job['name'], 60)}{whose}, if it is submitted now"
    name = f" ({printable(job['name'], 60)})" if job["name"] else ""
    on = f" on {printable(job['scheduler_name'], 60)}" if job["scheduler_name"] else ""
    return f"job {job['job']}{name}{whose}{on}, {job['state'] or 'state unknown'}"
