"""What the report on held jobs is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jobsight.history.labels import RowLabels
from jobsight.history.readreport import ReadReport
from jobsight.history.timelines import History
from jobsight.learning.costs import cheapest_baseline
from jobsight.questions.hold.answering.answer import Answer
from jobsight.questions.hold.training.evaluation import Evaluation
from jobsight.questions.hold.training.model import HoldModel
from jobsight.text import printable

__all__ = ["Material", "cost_in_words"]


@dataclass(frozen=True)
class Material:
    """Everything that one report shows.

    Attributes:
        model: that was evaluated and answers.
        evaluation: of the model on these logs.
        history: the logs, indexed.
        labels: of the history's rows.
        read: how the reading of the logs went.
        moment: µs since 1970, when the held jobs are asked about; None: no such part.
        answers: for every job held then.
        later: whether the next release of an access point's job id succeeded, as recorded later.
        verification: what ``jobsight verify hold --json`` prints; None: no such part.
        about: what these logs are, in the words of whoever made the report.
    """

    model: HoldModel
    evaluation: Evaluation
    history: History
    labels: RowLabels
    read: ReadReport
    moment: int | None = None
    answers: Sequence[Answer] = ()
    later: Mapping[tuple[str | None, str], bool] = field(default_factory=dict)
    verification: Mapping[str, Any] | None = None
    about: str = ""

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the model's manifest tells of its training; empty where it was never saved."""
        return {} if self.model.manifest is None else self.model.manifest.facts


def cost_in_words(material: Material) -> str:
    """What the chosen model's decisions cost, next to those of the cheapest baseline."""
    costs, chosen = material.evaluation.costs, material.evaluation.chosen
    best, own = cheapest_baseline(costs), costs[chosen]
    words = f"per decision {own.cost:.2f} wasted runs, "
    if chosen == best:
        return f"{words}itself the best baseline"
    words += f"{printable(best.replace('_', ' '))} {costs[best].cost:.2f}: "
    difference = own.against_baseline
    words += f"{own.cost - costs[best].cost:+.2f}"
    if difference.low is None or difference.high is None:
        return words
    return f"{words} ({difference.low:+.2f} to {difference.high:+.2f})"
