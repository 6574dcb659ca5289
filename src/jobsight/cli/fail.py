"""``jobsight fail``: will it fail, of what, and what helps?

With ``--json`` one JOBID that is one job, and a SCRIPT, give one object; several ids, --pending and
--running give a list of objects, one per job. Where some of several ids name no job that waits or
runs, the others are answered, each of these gives a line on standard error, and the exit status
is 1.
"""

from __future__ import annotations

import getpass
import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl
import typer

from jobsight.cli.common import ConfigOption, StoreOption, TimezoneOption, load_settings
from jobsight.cli.failpage import print_answers, print_table
from jobsight.cli.modelnames import champion_of, model_folder, open_registry, unusable
from jobsight.cli.output import print_json, report_problems, stages
from jobsight.cli.reading import has_store, now, read_for, refuse_before
from jobsight.clock import format_micros, micros, parse_moment, zone_named
from jobsight.documents import State
from jobsight.errors import JobsightError, ModelError, SourceError, UsageError
from jobsight.history.slurm.options import requested
from jobsight.ids import JobName, parse_job_name
from jobsight.learning.modeldir import ModelDir
from jobsight.learning.reading import are_documents
from jobsight.learning.registry import DEFAULT
from jobsight.questions.fail.answering import RUNNING, Answerer
from jobsight.questions.fail.question import FAIL
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.history.jobtable import JobTable
    from jobsight.learning.registry import Entry
    from jobsight.questions.fail.answering import Answer
    from jobsight.settings import Settings

__all__ = ["fail"]

_NONE = "none"
"""What ``--model`` is given to be answered by rates, whatever the registry has."""
_LARGEST_SCRIPT = 4 << 20
_QUEUES = {"pending": [State.PENDING.value], "running": list(RUNNING)}
_ENDED = [state.value for state in State if state.ended]


def fail(
    jobs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[JOBID...|SCRIPT [OPTION...]]",
            help="123, 123_4, 123.4 or a whole id; or a batch script, and options of sbatch.",
        ),
    ] = None,
    pending: Annotated[bool, typer.Option("--pending", help="All jobs that wait.")] = False,
    running: Annotated[bool, typer.Option("--running", help="All jobs that run.")] = False,
    each: Annotated[bool, typer.Option("--each", help="One row per job, not per cause.")] = False,
    store: StoreOption = None,
    log: Annotated[
        list[str] | None, typer.Option(help="Event log, as of `jobsight hold`; repeatable.")
    ] = None,
    files: Annotated[
        list[str] | None,
        typer.Option("--import", help="File that `jobsight import` reads; repeatable."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Directory, digest of `models list`, or none for rates (default: the champion "
            "of the job's cluster, else of the cluster default, else rates)."
        ),
    ] = None,
    at: Annotated[
        str | None, typer.Option(help="As of when (default: now of a store, the end of a file).")
    ] = None,
    save: Annotated[
        bool,
        typer.Option("--save", help="Keep the answers in the store, in the documents of the jobs."),
    ] = False,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object for one JOBID or SCRIPT, else a list.")
    ] = False,
) -> None:
    """Will it fail? Probability, likely cause, evidence and what to change."""
    asked = _asked(jobs or [], pending=pending, running=running, save=save)
    settings = load_settings(config, {"timezone": timezone, "store": store}, FAIL)
    inputs = [*(log or []), *(files or [])]
    if store is not None or not inputs:
        inputs.append(_own_store(settings, named=store is not None))
    given = None if at is None else micros(parse_moment(at, zone_named(settings.timezone)))
    named = None if model is None or model == _NONE else model
    opened = None if named is None else _opened(model_folder(named, settings, FAIL.name))
    everything, _, _ = read_for(FAIL, inputs, settings)
    moment, when = _moment(everything, given, live=any(map(are_documents, inputs)))
    known = everything if moment > _end(everything) else everything.as_of(moment)
    desk = _Desk(known, moment, settings, opened, use_champions=model is None)
    answers, problems = asked.answers(desk)
    kept, failure = _kept(answers, settings) if save else ([], None)
    if as_json:
        objects = [one.to_json() for one in answers]
        for one in objects if asked.single and len(objects) < 2 else [objects]:
            print_json(one)
    elif asked.queues:
        print_table(answers, " or ".join(asked.queues), when, each=each)
    else:
        print_answers(answers, when)
    if failure is not None:
        raise failure
    report_problems(problems + kept)


@dataclass(frozen=True)
class _Desk:
    """Who answers for the jobs of one history, as of a moment (µs).

    Attributes:
        jobs: as of the moment.
        model: that the call names.
        use_champions: where it names none, whether that of each cluster answers.
    """

    jobs: JobTable
    moment: int
    settings: Settings
    model: ModelDir | None
    use_champions: bool

    def answer(self, rows: pl.Expr) -> list[Answer]:
        """The answers for the jobs of the table that an expression selects, in its order."""
        found: dict[str, Answer] = {}
        ids = self.jobs.table.filter(rows).select("id", "scheduler_name")
        for cluster, entry in self._entries(ids["scheduler_name"]).items():
            answerer = self.answerer(entry)
            of_entry = pl.col("scheduler_name").is_in(cluster)
            found |= {
                one.job["id"]: one for one in answerer.answer(answerer.asked(rows & of_entry))
            }
        return [found[id_] for id_ in ids["id"]]

    def _entries(self, clusters: pl.Series) -> dict[tuple[str, ...], Entry | None]:
        """The champions by the clusters that they answer for."""
        found: dict[str | None, tuple[Entry | None, list[str]]] = {}
        for cluster in sorted(clusters.unique()):
            entry = self.champion(cluster)
            digest = None if entry is None else entry.digest
            found.setdefault(digest, (entry, []))[1].append(cluster)
        return {tuple(names): entry for entry, names in found.values()}

    def champion(self, cluster: str | None) -> Entry | None:
        """The champion that answers for the jobs of a cluster."""
        if not self.use_champions:
            return None
        registry = open_registry(self.settings)
        found = None if cluster is None else champion_of(registry, FAIL.name, cluster)
        return found or champion_of(registry, FAIL.name, DEFAULT)

    def answerer(self, entry: Entry | None) -> Answerer:
        """Index what was known for a model of the registry, or for the one that was named."""
        try:
            model = self.model if entry is None else _opened(entry.folder)
        except ModelError as error:
            assert entry is not None
            raise unusable(FAIL.name, entry.cluster, error) from None
        with stages() as progress:
            progress("indexing")
            return Answerer(self.jobs, self.moment, model)


@dataclass(frozen=True)
class _Asked:
    """What is asked about: jobs by their names, queues, or a script with options of sbatch."""

    names: tuple[JobName, ...] = ()
    queues: tuple[str, ...] = ()
    script: tuple[str, tuple[str, ...]] | None = None

    @property
    def single(self) -> bool:
        """Whether one object is printed where there is one answer."""
        return self.script is not None or len(self.names) == 1

    def answers(self, desk: _Desk) -> tuple[list[Answer], list[str]]:
        """The answers, and what is wrong with the names."""
        if self.script is not None:
            return [_of_script(desk, *self.script)], []
        if self.queues:
            states = [state for queue in self.queues for state in _QUEUES[queue]]
            return desk.answer(pl.col("state").cast(pl.String).is_in(states)), []
        problems, ids = [], []
        for name in self.names:
            found, problem = _find(desk, name)
            ids += found
            problems += [problem] if problem else []
        return desk.answer(pl.col("id").is_in(ids)) if ids else [], problems


def _asked(jobs: list[str], *, pending: bool, running: bool, save: bool) -> _Asked:
    queues = tuple(name for name, wanted in (("pending", pending), ("running", running)) if wanted)
    if bool(jobs) == bool(queues):
        raise UsageError("name jobs or a script, or ask for --pending or --running")
    if queues:
        return _Asked(queues=queues)
    if jobs[0].startswith("-"):
        raise UsageError(f"no such option: {printable(jobs[0], 40)}")
    if _is_script(jobs[0]):
        if save:
            raise UsageError("the answer for a script cannot be saved: it is not a job yet")
        return _Asked(script=(jobs[0], tuple(jobs[1:])))
    for one in jobs:
        if one.startswith("-"):
            raise UsageError(f"no such option: {printable(one, 40)}")
    return _Asked(names=tuple(dict.fromkeys(map(parse_job_name, jobs))))


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


def _find(desk: _Desk, name: JobName) -> tuple[list[str], str | None]:
    """The ids of the jobs of a name that wait or run; what is wrong where there are none."""
    named = pl.col("job") == name.job
    if name.job == name.number:
        # All tasks of an array, all procs of a cluster; or a task by Slurm's own number.
        own = pl.col("job_id").cast(pl.String) == name.job
        named |= (pl.col("job").str.extract(r"^([^._+]+)") == name.job) | own.fill_null(False)
    if name.place is not None:
        named &= pl.col("id").str.starts_with(f"{name.place}:")
    found = desk.jobs.table.filter(named)
    if not len(found):
        return [], f"no job {name} is known as of {format_micros(desk.moment)}"
    state = found["state"].cast(pl.String)
    open_ = found.filter(~state.is_in(_ENDED).fill_null(False))
    if len(open_):
        return open_["id"].to_list(), None
    if len(found) > 1:
        return [], f"all {len(found)} jobs of {name} have ended"
    ended = found["end"].to_physical()[0]
    when = "at an unknown time" if ended is None else f"at {format_micros(ended)}"
    return [], f"job {name} has ended: {state[0].replace('_', ' ')} {when}"


def _of_script(desk: _Desk, path: str, options: tuple[str, ...]) -> Answer:
    """The answer for a script as if it were submitted now by the caller."""
    try:
        with Path(path).open("rb") as file:
            text = file.read(_LARGEST_SCRIPT).decode(errors="replace")
    except OSError as error:
        raise SourceError(f"cannot read {printable(path, 80)}: {error.strerror}") from None
    clusters = desk.jobs.table.filter(scheduler="slurm")["scheduler_name"].unique().to_list()
    cluster = desk.settings.slurm.cluster or (clusters[0] if len(clusters) == 1 else None)
    request = requested(text, options)
    job: dict[str, Any] = {
        **request,
        "job": None,
        "scheduler": "slurm",
        "scheduler_name": cluster,
        "owner": _caller(),
        "name": request["name"] or Path(path).name,
        "command": str(Path(path).resolve()),
        "work_dir": request["work_dir"] or os.getcwd(),  # noqa: PTH109
        "script_digest": sha256(text.encode(errors="replace")).hexdigest()[:16],
    }
    answerer = desk.answerer(desk.champion(cluster))
    return answerer.answer(answerer.unsubmitted(job))[0]


def _caller() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise UsageError("this user has no name on this machine") from None


def _own_store(settings: Settings, *, named: bool) -> str:
    if not named and not has_store(settings):
        raise UsageError(
            "name the history: the store with --store URL, or files with --import FILE or --log "
            "FILE"
        )
    return "store:"


def _opened(folder: Path) -> ModelDir:
    return ModelDir.open(folder, FAIL, only_chosen=True)


def _end(jobs: JobTable) -> int:
    """The last moment of which anything is recorded, µs."""
    last = [jobs.table["seen"].max(), jobs.changes["known"].max()]
    return max(micros(one) for one in last if one is not None)  # type: ignore[arg-type]


def _moment(jobs: JobTable, given: int | None, *, live: bool) -> tuple[int, str]:
    """The moment asked about, and that moment in words."""
    end, first = _end(jobs), jobs.table["seen"].to_physical()[0]
    if given is not None:
        refuse_before(given, first, "job")
        return given, format_micros(given)
    if not live:
        # After the records of the last second.
        return end + 1_000_000, f"{format_micros(end)} (the end of the history)"
    moment = max(end + 1, now())
    return moment, f"{format_micros(moment)} (now; last record {format_micros(end)})"


def _kept(answers: list[Answer], settings: Settings) -> tuple[list[str], JobsightError | None]:
    """Keep answers before they are shown: the reader of the output may go away."""
    from jobsight.cli.saving import keep_answers

    try:
        return keep_answers(FAIL.name, answers, settings, save=True), None
    except JobsightError as error:
        return [], error
