"""What a report on a question is made of, and what a question may add to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jobsight.history.readreport import ReadReport
from jobsight.learning.evaluation import Evaluation
from jobsight.learning.modeldir import ModelDir
from jobsight.reports.overview import Overview
from jobsight.reports.page import Markup

__all__ = ["OwnParts", "Shown"]


@dataclass(frozen=True)
class OwnParts:
    """What a question adds to its report.

    Attributes:
        title: heading of the page.
        asked: what it answers now, in a sentence or two; may be empty.
        parts: sections before those on quality, by their names in the navigation; None: not shown.
        words: terms and what they mean.
        provenance: rows of name and value.
    """

    title: str
    asked: str = ""
    parts: Mapping[str, Markup | None] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    provenance: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Shown:
    """Everything that one report shows.

    Attributes:
        model: that was evaluated and answers.
        evaluations: of the model on what was read, by target; the first is the main one.
        source: see `Question.source`.
        read: how the reading went.
        overview: what the source shows before any model.
        verification: what ``jobsight verify QUESTION --json`` prints; None: no such part.
        about: what these data are, in the words of who made the report.
        at: the moment of the answers, as the user names it; None: one that shows most.
    """

    model: ModelDir
    evaluations: Mapping[str, Evaluation]
    source: Any
    read: ReadReport
    overview: Overview
    verification: Mapping[str, Any] | None = None
    about: str = ""
    at: int | None = None

    @property
    def evaluation(self) -> Evaluation:
        """Of the main target."""
        return next(iter(self.evaluations.values()))

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the model's manifest records of its training; empty where it was never saved."""
        return {} if self.model.manifest is None else self.model.manifest.facts
