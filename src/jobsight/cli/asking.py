"""Jobs of a history asked about: by their names, by queue, or as a script with options of sbatch.

What the commands of questions share: the session that answers, and which jobs are meant.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl
import typer

from jobsight.answering.jobtables import answer_unsubmitted, script_row
from jobsight.answering.machine import has_tools, own_history
from jobsight.answering.session import AnswerSession
from jobsight.cli.common import caller, has_store
from jobsight.cli.output import Console, note, print_objects, report_problems, stages
from jobsight.cli.served import ready_for
from jobsight.clock import now_micros
from jobsight.documents.spans import time_of
from jobsight.errors import SourceError, UsageError
from jobsight.format import moment
from jobsight.history.condor.client import CondorClient
from jobsight.history.jobsasked import requested
from jobsight.history.reasons import kept_masks
from jobsight.ids import JobName, parse_job_name
from jobsight.learning.reading import are_documents, note_shortened
from jobsight.store import open_store
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.answering.question import Answerable
    from jobsight.settings import Settings

__all__ = [
    "Asked",
    "ImportOption",
    "JobsArgument",
    "OneOrListOption",
    "asked",
    "history_of",
    "open_session",
    "own_inputs",
    "title",
]

JobsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[JOBID...|SCRIPT [OPTION...]]",
        help="123, 123_4, 123.4 or a whole id; or a batch script, and options of sbatch.",
    ),
]
ImportOption = Annotated[
    list[str] | None,
    typer.Option(
        "--import", help="File that `jobsight import` reads, or - for standard input; repeatable."
    ),
]
OneOrListOption = Annotated[
    bool, typer.Option("--json", help="One JSON object for one JOBID or SCRIPT, else a list.")
]

_LARGEST_SCRIPT = 4 << 20
_OLD = 3_600_000_000
"""µs without news after which a store is old."""


def open_session(
    answerable: Answerable[Any],
    settings: Settings,
    inputs: list[str],
    *,
    live: bool,
    model: str | None,
    at: str | None,
    adapt: Callable[[Any], Any] = lambda answerer: answerer,
) -> AnswerSession[Any]:
    """The session that answers: the service's own where the call runs in it.

    More may be written to the inputs meanwhile where they are `live`. `model` is a folder, a digest
    of the registry, or ``none``; None: champions answer. `at` is as the user writes it; None: now,
    or the end of files. `adapt`: see `AnswerSession`.

    Raises:
        JobsightError: nothing can be read, or there is no such model or moment.
    """
    ready = ready_for(inputs, settings, answerable.question, now=model is None and at is None)
    if ready is not None:
        if answerable.question.reads == "events":
            note_shortened(len(ready.tables.shortened), Console)
        return ready.session(answerable.question.name, step=1000).adapted(adapt)
    with stages() as progress, kept_masks():
        progress("indexing")
        return AnswerSession.open(
            answerable, inputs, settings, Console, model=model, at=at, live=live, adapt=adapt
        )


def history_of(
    inputs: list[str], settings: Settings, *, store: bool, names: Sequence[JobName] = ()
) -> tuple[list[str], bool]:
    """What a question on job tables reads, and whether more is written to it meanwhile.

    That is the files that the call names, and the store if it is named; where nothing is, see
    `own_inputs`.
    """
    if store:
        inputs = [*inputs, "store:"]
    if not inputs:
        return own_inputs(settings, names=names), True
    return inputs, any(map(are_documents, inputs))


@dataclass(frozen=True)
class Asked:
    """What is asked about: jobs by their names, queues, or a script with options of sbatch.

    `user` is whose jobs of queues, None: of all; and who submits the script, None: the caller.
    """

    names: tuple[JobName, ...] = ()
    queues: Mapping[str, list[str]] = field(default_factory=dict)
    script: tuple[str, tuple[str, ...]] | None = None
    user: str | None = None

    def report(
        self, session: AnswerSession[Any], *, save: bool, as_json: bool,
        table: Callable[[list[Any]], None], page: Callable[[list[Any]], None],
    ) -> None:  # fmt: skip
        """Answer, and print the answers, after they are saved: their reader may go away.

        Answers for queues are printed by `table`, those for jobs that were named or a script by
        `page`; with `as_json` as one object, or as a list of objects.

        Raises:
            JobsightError: they cannot be saved; or of some names there are none.
        """
        answers, problems = self.answers(session)
        try:
            if save:
                from jobsight.cli.saving import keep_answers

                problems += keep_answers(
                    session.answerable.question.name, answers, session.settings, save=True
                )
        finally:
            if as_json:
                print_objects(answers, single=self.script is not None or len(self.names) == 1)
            else:
                (table if self.queues else page)(answers)
        report_problems(problems)

    def answers(self, session: AnswerSession[Any]) -> tuple[list[Any], list[str]]:
        """The answers, and what is wrong with the names."""
        if self.script is not None:
            path, options = self.script
            try:
                with Path(path).open("rb") as file:
                    text = file.read(_LARGEST_SCRIPT).decode(errors="replace")
            except OSError as error:
                raise SourceError(f"cannot read {printable(path, 80)}: {error.strerror}") from None
            # As if it were submitted now.
            request, user = requested(text, options), self.user or caller()
            row = script_row(session.source, session.settings, path, text, request, user)
            return [answer_unsubmitted(session, row)], []
        if self.queues:
            states = [state for queue in self.queues.values() for state in queue]
            rows = pl.col("state").cast(pl.String).is_in(states)
            if self.user is not None:
                rows &= (pl.col("owner").cast(pl.String) == self.user).fill_null(value=False)
            return session.answer(rows), []
        return session.answer_names(self.names)


def asked(
    jobs: list[str], queues: Mapping[str, list[str]], *, user: str | None, save: bool, options: str
) -> Asked:
    """What a call asks about: `jobs` are ids, or a script and options of sbatch.

    `queues` has the states of the jobs of each queue that is asked for; `user`: see `Asked`;
    `options` are the options that name queues, in words.

    Raises:
        UsageError: it asks about nothing, or about both.
    """
    if bool(jobs) == bool(queues):
        raise UsageError(f"name jobs or a script, or ask for {options}")
    if queues:
        return Asked(queues=queues, user=user)
    first, *words = jobs
    if not first.startswith("-"):
        try:
            parse_job_name(first)
        except UsageError:
            if not Path(first).is_file():
                raise UsageError(
                    f"{printable(first, 60)!r} is neither a job id (123, 123_4, 123.4) nor a file"
                ) from None
            if save:
                raise UsageError(
                    "the answer for a script cannot be saved: it is not a job yet"
                ) from None
            return Asked(script=(first, tuple(words)), user=user)
    for job in jobs:
        if job.startswith("-"):
            raise UsageError(f"no such option: {printable(job, 40)}")
    if user is not None:
        raise UsageError(f"--user goes with {options} or a script; an id names its jobs by itself")
    return Asked(names=tuple(dict.fromkeys(map(parse_job_name, jobs))))


def own_inputs(
    settings: Settings, *, events: bool = False, names: Sequence[JobName] = ()
) -> list[str]:
    """What is read where a call names nothing: the store, else what this machine has.

    That is the event log of HTCondor where it can be read, and what the scheduler's tools say: it
    names owners and requests, which logs seldom do; for `events`, where there is no such log. They
    also come before an empty store, and before one that has nothing of the log's last hour.
    `names`: jobs asked about.

    Raises:
        JobsightError: as by `own_history`.
    """
    url, last = "", 0
    if has_store(settings):
        with open_store(settings=settings.store) as store:
            url, last = store.url, next(map(time_of, store.scan(newest_first=True, limit=1)), 0)
        if now_micros() - last < _OLD:
            return ["store:"]
    logs, why = list[str](), "its EVENT_LOG cannot be read"
    try:
        # A call that names a log or a store does without the reader of logs.
        from jobsight.service.configured import log_files

        logs = [log for log in log_files(settings) if os.access(log, os.R_OK)]
    except SourceError as error:
        why = str(error)
    if url:
        written = max((Path(log).stat().st_mtime_ns // 1000 for log in logs), default=0)
        if written - last <= _OLD and (last or not has_tools(settings)):
            return ["store:"]
        state = f"has nothing since {moment(last)}" if last else "is empty"
        note(f"the store {printable(url, 120)} {state}; what this machine has is read instead")
    if logs and (events or not has_tools(settings)):
        return logs
    if events and not CondorClient(settings.condor).has("condor_q"):
        raise UsageError(
            "name the event log with --log FILE, or the store with --store URL; here is no "
            f"condor_q to ask, and {why}"
        )
    with stages() as step:
        return [*logs, own_history(settings, step, note, names)]


def title(job: Mapping[str, Any]) -> str:
    """A job of the job table in words, safe to show; one without an id is not submitted yet."""
    whose = f" of {printable(job['owner'], 60)}" if job["owner"] else ""
    if job["id"] is None:
        return f"{printable(job['name'], 60)}{whose}, if it is submitted now"
    name = f" ({printable(job['name'], 60)})" if job["name"] else ""
    on = f" on {printable(job['scheduler_name'], 60)}" if job["scheduler_name"] else ""
    return f"job {job['job']}{name}{whose}{on}, {job['state'] or 'state unknown'}"
