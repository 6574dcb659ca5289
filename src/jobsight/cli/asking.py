"""Jobs of a history asked about: by their names, by queue, or as a script with options of sbatch.

What the commands of questions on job tables share: the history as of a moment, the champion of each
cluster, and which jobs are meant.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, Protocol, TypeVar

import polars as pl
import typer

from jobsight.cli.common import caller
from jobsight.cli.modelnames import model_folder
from jobsight.cli.output import print_json, stages
from jobsight.cli.reading import has_store, now, read_for, refuse_before
from jobsight.clock import format_micros, micros, parse_moment, zone_named
from jobsight.documents import State
from jobsight.errors import JobsightError, ModelError, SourceError, UsageError
from jobsight.history.slurm.options import requested
from jobsight.ids import JobName, parse_job_name
from jobsight.learning.champions import champion_of, open_registry, unusable
from jobsight.learning.modeldir import ModelDir
from jobsight.learning.reading import are_documents
from jobsight.learning.registry import DEFAULT
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.cli.saving import Kept
    from jobsight.history.jobtable import JobTable
    from jobsight.learning.question import Question
    from jobsight.learning.registry import Entry
    from jobsight.settings import Settings

__all__ = [
    "Asked",
    "AtOption",
    "Desk",
    "ImportOption",
    "JobsArgument",
    "LogOption",
    "OneOrListOption",
    "SaveOption",
    "asked",
    "kept",
    "open_desk",
    "own_store",
    "script_row",
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

_NONE = "none"
"""What ``--model`` is given to be answered without one, whatever the registry has."""
_LARGEST_SCRIPT = 4 << 20
_ENDED = [state.value for state in State if state.ended]


class Answers(Protocol):
    """An answer of a question on job tables."""

    @property
    def job(self) -> Mapping[str, Any]:
        """Its row of the job table."""

    def to_json(self) -> dict[str, Any]:
        """As plain data."""


A = TypeVar("A", bound=Answers)


class Answerer(Protocol[A]):
    """Answers for the jobs of one table, as of one moment."""

    def asked(self, rows: pl.Expr) -> pl.DataFrame:
        """The jobs of the table that an expression selects, as they are asked about."""

    def unsubmitted(self, job: Mapping[str, Any]) -> pl.DataFrame:
        """A job that is to be submitted now."""

    def answer(self, asked: pl.DataFrame) -> list[A]:
        """The answers for jobs of `asked`, in their order."""


@dataclass(frozen=True)
class Desk(Generic[A]):
    """Who answers for the jobs of one history, as of a moment (µs).

    Attributes:
        question: that is asked.
        make: makes an answerer of a table, a moment and a model.
        jobs: as of the moment.
        when: the moment, in words.
        live: whether it is the present one of a store.
        model: that the call names.
        use_champions: where it names none, whether that of each cluster answers.
    """

    question: Question[Any]
    make: Callable[[JobTable, int, ModelDir | None], Answerer[A]]
    jobs: JobTable
    moment: int
    when: str
    live: bool
    settings: Settings
    model: ModelDir | None
    use_champions: bool

    def answer(self, rows: pl.Expr) -> list[A]:
        """The answers for the jobs of the table that an expression selects, in its order."""
        found: dict[str, A] = {}
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
        found = None if cluster is None else champion_of(registry, self.question.name, cluster)
        return found or champion_of(registry, self.question.name, DEFAULT)

    def answerer(self, entry: Entry | None) -> Answerer[A]:
        """Index what was known for a model of the registry, or for the one that was named."""
        try:
            model = self.model if entry is None else _opened(entry.folder, self.question)
        except ModelError as error:
            assert entry is not None
            raise unusable(self.question.name, entry.cluster, error) from None
        with stages() as progress:
            progress("indexing")
            return self.make(self.jobs, self.moment, model)


def open_desk(
    question: Question[Any],
    make: Callable[[JobTable, int, ModelDir | None], Answerer[A]],
    settings: Settings,
    inputs: list[str],
    *,
    store: bool,
    model: str | None,
    at: str | None,
) -> Desk[A]:
    """Read a history, as of a moment.

    Args:
        question: that is asked.
        make: see `Desk`.
        settings: of the call.
        inputs: files; without any, the store.
        store: the call names a store.
        model: a folder, a digest of the registry, or ``none``; None: champions answer.
        at: the moment, as the user writes it; None: now, or the end of files.

    Raises:
        JobsightError: nothing can be read, or there is no such model or moment.
    """
    if store or not inputs:
        inputs = [*inputs, own_store(settings, named=store)]
    given = None if at is None else micros(parse_moment(at, zone_named(settings.timezone)))
    named = None if model is None or model == _NONE else model
    opened = None
    if named is not None:
        opened = _opened(model_folder(named, settings, question.name), question)
    everything, _, _ = read_for(question, inputs, settings)
    live = any(map(are_documents, inputs))
    moment, when = _moment(everything, given, live=live)
    known = everything if moment > _end(everything) else everything.as_of(moment)
    live = live and given is None
    return Desk(question, make, known, moment, when, live, settings, opened, model is None)


@dataclass(frozen=True)
class Asked:
    """What is asked about: jobs by their names, queues, or a script with options of sbatch."""

    names: tuple[JobName, ...] = ()
    queues: Mapping[str, list[str]] = field(default_factory=dict)
    script: tuple[str, tuple[str, ...]] | None = None

    @property
    def single(self) -> bool:
        """Whether one object is printed where there is one answer."""
        return self.script is not None or len(self.names) == 1

    def print_json(self, answers: Sequence[Answers]) -> None:
        """Print the answers as one object, or as a list of objects."""
        objects = [one.to_json() for one in answers]
        for one in objects if self.single and len(objects) < 2 else [objects]:
            print_json(one)

    def answers(self, desk: Desk[A]) -> tuple[list[A], list[str]]:
        """The answers, and what is wrong with the names."""
        if self.script is not None:
            return [_of_script(desk, *self.script)], []
        if self.queues:
            states = [state for queue in self.queues.values() for state in queue]
            return desk.answer(pl.col("state").cast(pl.String).is_in(states)), []
        problems, ids = [], []
        for name in self.names:
            found, problem = _find(desk, name)
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
    if jobs[0].startswith("-"):
        raise UsageError(f"no such option: {printable(jobs[0], 40)}")
    if _is_script(jobs[0]):
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


def _find(desk: Desk[Any], name: JobName) -> tuple[list[str], str | None]:
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


def _of_script(desk: Desk[A], path: str, options: tuple[str, ...]) -> A:
    """The answer for a script as if it were submitted now by the caller."""
    try:
        with Path(path).open("rb") as file:
            text = file.read(_LARGEST_SCRIPT).decode(errors="replace")
    except OSError as error:
        raise SourceError(f"cannot read {printable(path, 80)}: {error.strerror}") from None
    job = script_row(desk.jobs, desk.settings, path, text, requested(text, options))
    answerer = desk.answerer(desk.champion(job["scheduler_name"]))
    return answerer.answer(answerer.unsubmitted(job))[0]


def script_row(
    jobs: JobTable, settings: Settings, path: str, text: str, request: dict[str, Any]
) -> dict[str, Any]:
    """A batch script of the caller's in columns of the job table; `request`: those it asks for."""
    clusters = jobs.table.filter(scheduler="slurm")["scheduler_name"].unique().to_list()
    return {
        **request,
        "job": None,
        "scheduler": "slurm",
        "scheduler_name": settings.slurm.cluster or (clusters[0] if len(clusters) == 1 else None),
        "owner": caller(),
        "name": request["name"] or Path(path).name,
        "command": str(Path(path).resolve()),
        "work_dir": request["work_dir"] or os.getcwd(),  # noqa: PTH109
        "script_digest": sha256(text.encode(errors="replace")).hexdigest()[:16],
    }


def own_store(settings: Settings, *, named: bool) -> str:
    """The store of the settings as an input; `named`: the call names one."""
    if not named and not has_store(settings):
        raise UsageError(
            "name the history: the store with --store URL, or files with --import FILE or --log "
            "FILE"
        )
    return "store:"


def _opened(folder: Path, question: Question[Any]) -> ModelDir:
    return ModelDir.open(folder, question, only_chosen=True)


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


def kept(
    question: Question[Any], answers: Sequence[Kept], settings: Settings
) -> tuple[list[str], JobsightError | None]:
    """Keep answers before they are shown: the reader of the output may go away."""
    from jobsight.cli.saving import keep_answers

    try:
        return keep_answers(question.name, answers, settings, save=True), None
    except JobsightError as error:
        return [], error


def title(job: Mapping[str, Any]) -> str:
    """A job of the job table in words, safe to show; one without an id is not submitted yet."""
    whose = f" of {printable(job['owner'], 60)}" if job["owner"] else ""
    if job["id"] is None:
        return f"{printable(job['name'], 60)}{whose}, if it is submitted now"
    name = f" ({printable(job['name'], 60)})" if job["name"] else ""
    on = f" on {printable(job['scheduler_name'], 60)}" if job["scheduler_name"] else ""
    return f"job {job['job']}{name}{whose}{on}, {job['state'] or 'state unknown'}"
