"""Who answers for the jobs of one history, and which of its jobs a name means."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

import polars as pl

from jobsight.clock import format_micros, micros
from jobsight.documents import State
from jobsight.learning.champions import champion_of, open_registry, usable
from jobsight.learning.modeldir import ModelDir

if TYPE_CHECKING:
    from jobsight.history.jobtable import JobTable
    from jobsight.ids import JobName
    from jobsight.learning.question import Question
    from jobsight.learning.registry import Entry
    from jobsight.settings import Settings

__all__ = [
    "OPEN",
    "Answerer",
    "Desk",
    "JobAnswer",
    "indexed",
    "last_recorded",
    "script_row",
]

_ENDED = [state.value for state in State if state.ended]
OPEN = ~pl.col("state").cast(pl.String).is_in(_ENDED).fill_null(value=False)
"""Whether a job of a job table has not ended."""


@dataclass(frozen=True)
class JobAnswer(ABC):
    """An answer of a question on job tables.

    Attributes:
        job: its row of the job table.
        moment: µs, as of when.
    """

    job: Mapping[str, Any]
    moment: int

    @property
    def id(self) -> str | None:
        """The id of its document; None of a job that is not submitted yet."""
        found: str | None = self.job["id"]
        return found

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The answer as plain data, with the keys that the command prints."""


A = TypeVar("A", bound=JobAnswer)


class Answerer(Protocol[A]):
    """Answers for the jobs of one table, as of one moment (µs)."""

    @property
    def moment(self) -> int:
        """The moment."""

    def asked(self, rows: pl.Expr) -> pl.DataFrame:
        """The jobs of the table that an expression selects, as they are asked about."""

    def unsubmitted(self, job: Mapping[str, Any]) -> pl.DataFrame:
        """A job that is to be submitted now."""

    def answer(self, asked: pl.DataFrame) -> list[A]:
        """The answers for jobs of `asked`, in their order."""

    def at(self, moment: int) -> Self:
        """The same as of a later moment (µs), until which nothing more became known."""


@dataclass(frozen=True)
class Desk(Generic[A]):
    """Who answers for the jobs of one history, as of a moment (µs).

    Attributes:
        question: that is asked.
        jobs: as of the moment.
        when: the moment, in words.
        use_champions: whether the champion of each cluster answers.
        index: makes the answerer of a champion; None: of a model that the call names, or of none.
    """

    question: Question[Any]
    jobs: JobTable
    moment: int
    when: str
    settings: Settings
    use_champions: bool
    index: Callable[[Entry | None], Answerer[A]]

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

    def unsubmitted(self, job: Mapping[str, Any]) -> A:
        """The answer for a job that is to be submitted now."""
        answerer = self.answerer(self.champion(job["scheduler_name"]))
        return answerer.answer(answerer.unsubmitted(job))[0]

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
        return champion_of(open_registry(self.settings), self.question.name, cluster)

    def answerer(self, entry: Entry | None) -> Answerer[A]:
        """Who answers as of the moment: a champion, or what answers without one."""
        found = self.index(entry)
        return found if found.moment == self.moment else found.at(self.moment)

    def find(self, name: JobName) -> tuple[list[str], str | None]:
        """The ids of the jobs of a name that wait or run; what is wrong where there are none."""
        named = pl.col("job") == name.job
        if name.job == name.number:
            # All tasks of an array, all procs of a cluster; or a task by Slurm's own number.
            own = pl.col("job_id").cast(pl.String) == name.job
            named |= (pl.col("job").str.extract(r"^([^._+]+)") == name.job) | own.fill_null(False)
        if name.place is not None:
            named &= pl.col("id").str.starts_with(f"{name.place}:")
        found = self.jobs.table.filter(named)
        if not len(found):
            return [], f"no job {name} is known as of {format_micros(self.moment)}"
        open_ = found.filter(OPEN)
        if len(open_):
            return open_["id"].to_list(), None
        if len(found) > 1:
            return [], f"all {len(found)} jobs of {name} have ended"
        ended = found["end"].to_physical()[0]
        when = "at an unknown time" if ended is None else f"at {format_micros(ended)}"
        return [], f"job {name} has ended: {str(found['state'][0]).replace('_', ' ')} {when}"


def indexed(
    question: Question[Any], jobs: JobTable, moment: int, entry: Entry | None
) -> Answerer[Any]:
    """An answerer of a job table with a champion, or without a model.

    Raises:
        ModelError: it cannot be used; says how to go on without it.
    """
    if entry is None:
        return question.answerer(jobs, moment, None)
    with usable(question.name, entry.cluster):
        model = ModelDir.open(entry.folder, question, only_chosen=True)
        return question.answerer(jobs, moment, model)


def last_recorded(jobs: JobTable) -> int:
    """The last moment of which anything is recorded, µs; even of a job with a wrong date."""
    last = [jobs.table["seen"].max(), jobs.changes["known"].max()]
    return max((micros(one) for one in last if one is not None), default=0)  # type: ignore[arg-type]


def script_row(
    jobs: JobTable,
    settings: Settings,
    path: str,
    text: str,
    request: dict[str, Any],
    owner: str,
) -> dict[str, Any]:
    """A batch script of a user's in columns of the job table; `request`: those it asks for."""
    clusters = jobs.table.filter(scheduler="slurm")["scheduler_name"].unique().to_list()
    return {
        **request,
        "job": None,
        "scheduler": "slurm",
        "scheduler_name": settings.slurm.cluster or (clusters[0] if len(clusters) == 1 else None),
        "owner": owner,
        "name": request["name"] or Path(path).name,
        "command": str(Path(path).resolve()),
        "work_dir": request["work_dir"] or os.getcwd(),  # noqa: PTH109
        "script": text,
        "script_digest": sha256(text.encode(errors="replace")).hexdigest()[:16],
    }
