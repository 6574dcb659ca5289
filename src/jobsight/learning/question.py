"""The contract of a question that can be learned: what training, judging, reports and sweeps ask.

A question is entered in `jobsight.questions.QUESTIONS` and named nowhere else. It turns a source
(an event history, a job table, programs) into decisions with outcomes, and decisions into what
models read, as of each decision. Everything else is written once over this contract.

The table of decisions has one row per moment at which a choice is made, with these columns and
any others that the question itself needs:

- ``decided`` i64: µs since 1970, when the decision was taken; the split is made by it;
- ``known_at`` i64?: µs, when the outcome was known; null where it is not;
- ``batch``, ``group``: rows of one batch share their fate and weigh 1 together; rows of a group are
  never on both sides of a border;
- ``log`` i64: number of the log or cluster that the row is of;
- ``drawn``, optional: rows that resampling draws together; without it those of a batch;
- ``kept`` bool: whether it counts at all; ``teaches`` bool: whether its outcome may be learned;
- ``censored`` str?: why the outcome is unknown, where it is;
- one column per target, named like it: the outcome, null where it is unknown;
- ``known_at TARGET``, ``censored TARGET``, optional, of a target other than the first: the same of
  its own outcomes; ``bound TARGET`` bool: the value is a lower bound, which teaches but does not
  judge.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar

import polars as pl

from jobsight.learning.targets import Target
from jobsight.models.base import Inputs
from jobsight.models.rules import RuleSet
from jobsight.settings import Costs, QuestionSettings

__all__ = ["Builder", "Decisions", "Encoding", "Question", "Stratum"]

S = TypeVar("S", bound=QuestionSettings)


@dataclass(frozen=True)
class Decisions:
    """The decisions of a source.

    Attributes:
        table: see the module.
        since, until: µs: first and last moment of the source.
        left_out: rows that are no decision, by reason.
        facts: counts for the manifest, such as events and jobs.
        nothing: what to say where there are no decisions to learn from.
        notes: sentences on the source without which the numbers of a report are misread.
    """

    table: pl.DataFrame
    since: int
    until: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    nothing: str = "nothing to learn from: the history has no decisions"
    notes: Sequence[str] = ()


class Encoding(Protocol):
    """What is learned from training rows alone before any model: scales, vocabularies."""

    @property
    def horizon_micros(self) -> int:
        """µs within which an outcome must be known; 0: no limit."""

    def to_json(self) -> dict[str, Any]:
        """As plain data, which `Question.encoding_from` reads back."""


class Builder(Protocol):
    """Makes inputs of decisions of one source; indexed once, usable from several threads."""

    def build(self, rows: pl.DataFrame, moment: str) -> tuple[pl.DataFrame, Inputs]:
        """The rows that were open at a moment, and what was known of each then, in their order."""


class Stratum(NamedTuple):
    """What reports slice decisions by.

    Attributes:
        label: an expression over the table of decisions that gives text.
        title: heading of the slices.
        saved: whether its values may be kept in the model's report; not those that name people.
        words: how values are shown, where not as they are.
    """

    label: pl.Expr
    title: str
    saved: bool = True
    words: Mapping[str, str] = {}


class Question(Protocol[S]):
    """One question, as it is learned; stateless. How it is answered: `jobsight.answering.question`.

    Errors: `TrainingError` where a source cannot teach anything.

    Attributes:
        name: as in `jobsight.questions.QUESTIONS`.
        title: the question itself, in a few words.
        settings: class of its settings.
        targets: what it predicts, by the name of their column; the first chooses the champion.
        titles: words for a target, or for one of its kinds, whose name does not say what it is.
        models: names that are trained, baselines among them (`jobsight.models.create`).
        rule_sets: rule sets among the models, by name.
        equal: whether its targets matter alike, so that reports name each.
        only: models that are of one target alone, and which.
        members: models that the model ``stack`` joins.
        columns: the features that baselines of these names answer (`jobsight.models.column`).
        each_moment: whether models are chosen and judged at every moment, or the one chosen at the
            first is fitted for the others too.
        reads: what its source is made of: ``events``, an event history; ``jobs``, a table with one
            row per job of either scheduler; ``programs``, a list of `jobsight.program.examples`.
        timed: whether decisions have moments; if not, `decided` only places groups in an order
            drawn by chance, and nothing is compared or shown by time.
        searched: dotted settings, or sections of them, that sweeps may search.
        same: settings that must be equal in two models that are compared.
        key: text that identifies a decision in another reading of its source.
        job: text that names the job of a decision: its cluster or access point, a blank, its id
            there; null where decisions are not of jobs.
        causes: columns that together name the cause of a decision; may be empty.
        strata: what reports slice by.
        words: names of a decision, one and several, and of its true outcome, for messages.
        spent: column of the decisions with the core-hours that each job used in the end, null where
            unknown; empty: evaluations have no view of what acting on P(true) saves.
        barred: why a decision with an outcome may not teach, in a word for counts.
        families: features by what they are about: beginnings of their names, by family.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    settings: type[S]
    targets: ClassVar[Mapping[str, Target]]
    titles: ClassVar[Mapping[str, str]] = {}
    models: ClassVar[tuple[str, ...]]
    rule_sets: ClassVar[Mapping[str, RuleSet]] = {}
    equal: ClassVar[bool] = False
    only: ClassVar[Mapping[str, str]] = {}
    members: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[Mapping[str, str]] = {}
    each_moment: ClassVar[bool] = False
    reads: ClassVar[Literal["events", "jobs", "programs"]] = "events"
    timed: ClassVar[bool] = True
    searched: ClassVar[tuple[str, ...]] = ("seed",)
    same: ClassVar[tuple[str, ...]] = ()
    key: ClassVar[pl.Expr]
    job: ClassVar[pl.Expr] = pl.lit(None, pl.String)
    causes: ClassVar[tuple[str, ...]] = ()
    strata: ClassVar[Mapping[str, Stratum]] = {}
    words: ClassVar[tuple[str, str, str]] = ("decision", "decisions", "true")
    spent: ClassVar[str] = ""
    barred: ClassVar[str] = "not_taught"
    families: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def decisions(self, source: Any, settings: S) -> Decisions:
        """Every decision of a source, with what became of it."""
        ...

    def encoding(self, rows: pl.DataFrame, settings: S) -> Encoding:
        """Learn scales from rows of the training part whose outcome was known in time."""
        ...

    def encoding_from(self, data: Mapping[str, Any]) -> Encoding:
        """Read what `Encoding.to_json` gave; KeyError, TypeError, ValueError where it is not."""
        ...

    def builder(self, source: Any, encoding: Any, settings: S) -> Builder:
        """What makes inputs of the decisions of a source."""
        ...

    def resolved(self, table: pl.DataFrame, encoding: Any) -> pl.DataFrame:
        """Decisions with what is known of them within the encoding's horizon."""
        return table

    def moments(self, encoding: Any) -> tuple[str, ...]:
        """When it can be asked, the usual moment first."""
        return ("",)

    def costs(self, settings: S) -> Costs | None:
        """What decisions cost, where acting on P(true) saves something."""
        return None

    def again(
        self, source: Any, row: pl.DataFrame, encoding: Any, settings: S, moment: str
    ) -> Inputs | None:
        """Inputs of one decision, built from the source cut off there; None: it is not there.

        Audits compare them bit by bit with those that `Builder.build` gives with the decision.

        The row is one that `Builder.build` gave for the moment; the encoding is not learned again.
        """
        ...

    def checks(self) -> Mapping[str, Callable[[Any], Any]]:
        """The question's own checks of an audit, after those of all questions."""
        return {}
