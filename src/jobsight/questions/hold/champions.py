"""Who answers for held jobs: the champion of each job's cluster, or one for all.

A job's cluster is its access point. Where the registry has no champion of it, that of ``default``
answers; where there is none either, today's rules and the history's own rates do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from jobsight.history.labels import RowLabels, label_rows
from jobsight.history.timelines import History
from jobsight.learning.champions import champion_of, open_registry, usable
from jobsight.learning.modeldir import ModelDir
from jobsight.questions.hold.answering.answer import Answerer
from jobsight.questions.hold.answering.heldjob import UNKNOWN, Pool
from jobsight.questions.hold.answering.lookup import HeldName, find_held
from jobsight.questions.hold.examples.decisions import held_jobs
from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from jobsight.learning.registry import Entry, Registry
    from jobsight.questions.hold.answering.answer import Answer
    from jobsight.settings import Settings

__all__ = ["Answerers", "answers_for", "choose_answerers", "is_of"]


@dataclass(frozen=True)
class Answerers:
    """Who answers for the jobs of one history, by access point; each is indexed when first asked.

    Attributes:
        history: the indexed log.
        labels: of its rows.
        by_access_point: gives the one for the jobs of an access point.
        otherwise: gives the one for all others.
    """

    history: History
    labels: RowLabels
    by_access_point: Mapping[str | None, Callable[[], Answerer]]
    otherwise: Callable[[], Answerer]

    @classmethod
    def of(cls, history: History, make: Callable[[RowLabels], Answerer]) -> Answerers:
        """One for all jobs."""
        labels = label_rows(history)
        return cls(history, labels, {}, cache(partial(make, labels)))

    def held(self, moment: int, jobs: NDArray[np.integer] | None = None) -> pl.DataFrame:
        """The jobs held at `moment` (µs): see `held_jobs`."""
        return held_jobs(self.history, moment, self.labels, jobs)

    def answer(self, held: pl.DataFrame, moment: int, pool: Pool = UNKNOWN) -> list[Answer]:
        """The answers for held jobs, in their order (see `Answerer.answer`).

        Raises:
            ModelError: a champion cannot be used; says how to go on without it.
        """
        places: dict[Callable[[], Answerer], list[int]] = {}
        for place, access_point in enumerate(held["access_point"]):
            make = self.by_access_point.get(access_point, self.otherwise)
            places.setdefault(make, []).append(place)
        answers = [
            pair
            for make, rows in places.items()
            for pair in zip(rows, make().answer(held[rows], moment, pool), strict=True)
        ]
        return [answer for _, answer in sorted(answers, key=lambda pair: pair[0])]


def choose_answerers(history: History, settings: Settings, *, here: str | None = None) -> Answerers:
    """The champions for a history.

    Args:
        history: of the jobs asked about.
        settings: where the registry is; what the answers need.
        here: name of this machine's schedd, see `Answerer`.
    """
    champions = _champions(history, open_registry(settings))
    labels = label_rows(history)
    made = {
        _digest(entry): cache(partial(_answerer, history, settings, entry, here, labels))
        for entry in champions.values()
    }
    by_access_point = {point: made[_digest(entry)] for point, entry in champions.items()}
    return Answerers(history, labels, by_access_point, next(iter(by_access_point.values())))


def _champions(history: History, registry: Registry) -> dict[str | None, Entry | None]:
    """The champion that answers for the jobs of each access point; None: none."""
    points = history.jobs["access_point"]
    found: dict[str | None, Entry | None] = {
        name: champion_of(registry, "hold", name) for name in sorted(points.drop_nulls().unique())
    }
    if points.has_nulls() or not found:
        # A log that names no access point is taken for the other's, where there is but one other.
        alone = len(found) == 1
        found[None] = next(iter(found.values())) if alone else champion_of(registry, "hold", None)
    return found


def _digest(entry: Entry | None) -> str | None:
    return None if entry is None else entry.digest


def _answerer(
    history: History,
    settings: Settings,
    entry: Entry | None,
    here: str | None,
    labels: RowLabels,
) -> Answerer:
    own = settings.of("hold", HoldSettings)
    if entry is None:
        return Answerer(history, own, None, here=here, labels=labels)
    with usable("hold", entry.cluster):
        network = own.lstm.network
        model = ModelDir.open(entry.folder, HOLD, network=network, only_chosen=True)
        return Answerer(history, own, model, here=here, labels=labels)


def answers_for(
    answerers: Answerers, asked: Sequence[HeldName], moment: int, pool: Pool = UNKNOWN
) -> tuple[list[Answer], list[str]]:
    """The answers for the held jobs that ids name as of a moment (µs); what is wrong with ids."""
    find = partial(find_held, answerers.history, answerers.labels, moment=moment)
    held, problems = find([one.job for one in asked])
    answers = [
        answer
        for answer in answerers.answer(held, moment, pool)
        if any(is_of(answer, one) for one in asked)
    ]
    elsewhere = [
        f"job {one.job} is held, but not on {one.access_point}"
        for one in asked
        if one.access_point is not None
        and not any(is_of(answer, one) for answer in answers)
        and len(find([one.job])[0])
    ]
    return answers, problems + elsewhere


def is_of(answer: Answer, asked: HeldName) -> bool:
    """Whether the answer is for a job that was asked for."""
    if asked.access_point not in (None, answer.access_point):
        return False
    whole_cluster = asked.job.proc is None and answer.job.cluster == asked.job.cluster
    return whole_cluster or answer.job == asked.job
