"""Who answers: the model that the call names, else the champion of each job's cluster.

A job's cluster is its access point. Where the registry has no champion of it, that of ``default``
answers; where there is none either, today's rules and the history's own rates do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobsight.cli.modelnames import model_folder
from jobsight.cli.reading import network_of
from jobsight.errors import ModelError
from jobsight.learning.champions import champion_of, open_registry, unusable
from jobsight.learning.modeldir import ModelDir
from jobsight.learning.registry import DEFAULT
from jobsight.questions.hold.answering.answer import Answerer
from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from jobsight.history.timelines import History
    from jobsight.learning.modeldir import ModelDir
    from jobsight.learning.registry import Entry, Registry
    from jobsight.questions.hold.answering.answer import Answer, Answerer
    from jobsight.settings import Settings

__all__ = ["RULES", "Answerers", "choose_answerers", "named_model"]

RULES = "none"
"""What ``--model`` is given to be answered by today's rules, whatever the registry has."""


@dataclass(frozen=True)
class Answerers:
    """The answerers of one history: one for all jobs, or several by access point.

    Attributes:
        first: any of them; of jobs that are in `by_access_point` no more than what they are.
        by_access_point: the one for the jobs of an access point, where it is not `first`.
    """

    first: Answerer
    by_access_point: Mapping[str | None, Answerer]

    def answer(self, held: pl.DataFrame, moment: int) -> list[Answer]:
        """The answers for held jobs, in their order (see `Answerer.answer`)."""
        if not self.by_access_point:
            return self.first.answer(held, moment)
        places: dict[int, tuple[Answerer, list[int]]] = {}
        for place, access_point in enumerate(held["access_point"]):
            answerer = self.by_access_point.get(access_point, self.first)
            places.setdefault(id(answerer), (answerer, []))[1].append(place)
        answers = [
            pair
            for answerer, rows in places.values()
            for pair in zip(rows, answerer.answer(held[rows], moment), strict=True)
        ]
        return [answer for _, answer in sorted(answers, key=lambda pair: pair[0])]


def named_model(name: str | None, settings: Settings) -> ModelDir | None:
    """The model that ``--model`` names, opened; None where it names none.

    Raises:
        ModelError: it cannot be found or opened.
    """
    if name is None or name == RULES:
        return None
    network = network_of(HOLD, settings)
    return ModelDir.open(
        model_folder(name, settings, "hold"), HOLD, network=network, only_chosen=True
    )


def choose_answerers(
    history: History,
    settings: Settings,
    *,
    name: str | None,
    model: ModelDir | None,
    here: str | None = None,
) -> Answerers:
    """Index a history for the models that answer.

    Args:
        history: of the jobs asked about.
        settings: where the registry is; what the answers need.
        name: what ``--model`` was given.
        model: `named_model` of it.
        here: name of this machine's schedd, see `Answerer`.

    Raises:
        ModelError: a champion cannot be used; says how to go on without it.
    """
    if name is not None:
        return Answerers(Answerer(history, settings.of("hold", HoldSettings), model, here=here), {})
    champions = _champions(history, open_registry(settings))
    by_access_point: dict[str | None, Answerer] = {}
    answerers: dict[str | None, Answerer] = {}
    for access_point, entry in champions.items():
        key = None if entry is None else entry.digest
        if key not in answerers:
            answerers[key] = _answerer(history, settings, entry, here)
        by_access_point[access_point] = answerers[key]
    first = next(iter(by_access_point.values()))
    return Answerers(first, by_access_point if len(answerers) > 1 else {})


def _champions(history: History, registry: Registry) -> dict[str | None, Entry | None]:
    """The champion that answers for the jobs of each access point; None: none."""
    points = history.jobs["access_point"]
    usual = champion_of(registry, "hold", DEFAULT)
    found: dict[str | None, Entry | None] = {
        name: champion_of(registry, "hold", name) or usual
        for name in sorted(points.drop_nulls().unique())
    }
    if points.has_nulls() or not found:
        # A log that names no access point is taken for the other's, where there is but one other.
        found[None] = next(iter(found.values())) if len(found) == 1 else usual
    return found


def _answerer(
    history: History, settings: Settings, entry: Entry | None, here: str | None
) -> Answerer:

    if entry is None:
        return Answerer(history, settings.of("hold", HoldSettings), None, here=here)
    try:
        network = network_of(HOLD, settings)
        model = ModelDir.open(entry.folder, HOLD, network=network, only_chosen=True)
        return Answerer(history, settings.of("hold", HoldSettings), model, here=here)
    except ModelError as error:
        raise unusable("hold", entry.cluster, error) from None
