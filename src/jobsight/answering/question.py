"""The contract of an answer: what the session of answers asks of each question.

`jobsight.learning.question.Question` is what can be learned; an `Answerable` is what can be
answered of it. Both are named in `jobsight.questions` and nowhere else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar

from jobsight.errors import UsageError
from jobsight.learning.asked import imported

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from jobsight.ids import JobName
    from jobsight.learning.dataset import Dataset
    from jobsight.learning.modeldir import ModelDir
    from jobsight.learning.question import Question
    from jobsight.reports.overview import Overview
    from jobsight.reports.shown import OwnParts, Shown
    from jobsight.settings import Settings

__all__ = [
    "ANSWERABLES",
    "Answer",
    "Answerable",
    "Answerer",
    "HistoryAnswerer",
    "JobAnswer",
    "answerable_named",
]

ANSWERABLES: dict[str, str] = {}
"""``module:attribute`` of each `Answerable`, by the name of its question."""


def answerable_named(name: str) -> Answerable[Any]:
    """What answers the question of a name.

    Raises:
        UsageError: there is no such question.
    """
    answerable: Answerable[Any] = imported(ANSWERABLES, name)
    return answerable


class Answer(Protocol):
    """One answer, which can be printed, kept in the document of its job, and reviewed later."""

    @property
    def id(self) -> str | None:
        """Of the job's document; None: it is not known, or is not submitted yet."""

    @property
    def job(self) -> Any:
        """The job, as errors name it."""

    @property
    def moment(self) -> int:
        """As of when, µs."""

    @property
    def model(self) -> str:
        """What gave the answer."""

    @property
    def inputs(self) -> str:
        """Hash of what was read for it."""

    def to_json(self) -> dict[str, Any]:
        """The answer as plain data, with the keys that the command prints."""


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
        id_: str | None = self.job["id"]
        return id_

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The answer as plain data, with the keys that the command prints."""


A = TypeVar("A", bound=Answer)
A_co = TypeVar("A_co", bound=Answer, covariant=True)


class Answerer(Protocol):
    """Answers as of one moment, by one model or without one; for one thread at a time."""

    @property
    def moment(self) -> int:
        """The moment, µs."""

    def at(self, moment: int) -> Self:
        """The same as of a later moment, until which nothing more became known."""


class HistoryAnswerer(Answerer, Protocol[A]):
    """Answers for the jobs of a history."""

    def asked(self, rows: pl.Expr) -> pl.DataFrame:
        """The jobs that an expression over `Answerable.jobs` selects, as they are asked about."""

    def answer(self, asked: pl.DataFrame) -> list[A]:
        """The answers for jobs of `asked`, in their order."""


class Answerable(Protocol[A_co]):
    """How one question is answered; stateless.

    Attributes:
        question: what its models have learned.
        ships: folder of the model that answers where the registry has no champion; None: rules or
            rates answer.
        without: what answers where there is no model, in words.
        key, cluster: columns of `jobs` that name a job, and the cluster whose champion answers.
    """

    question: ClassVar[Question[Any]]
    ships: ClassVar[Path | None] = None
    without: ClassVar[str] = "rules or rates"
    key: ClassVar[str] = "id"
    cluster: ClassVar[str] = "scheduler_name"

    def source(self, read: Any, moment: int) -> Any:
        """What its answerers share, of what was read: as of a moment (µs)."""
        return read

    def span(self, read: Any) -> tuple[int, int]:
        """The first and the last moment of which anything is recorded, µs."""
        raise UsageError(f"{self.question.name} is not asked of a history")

    def jobs(self, source: Any, moment: int) -> pl.DataFrame:
        """The jobs of a source that may be asked about as of a moment (µs)."""
        raise UsageError(f"{self.question.name} is not asked of a history")

    def clusters(self, source: Any) -> pl.Series:
        """The names of all clusters of a source, null where it has jobs of an unnamed one."""
        raise UsageError(f"{self.question.name} is not asked of a history")

    def named(self, source: Any, name: JobName, moment: int) -> tuple[list[Any], str | None]:
        """The keys of the jobs of a name that can be asked about; what is wrong if none can."""
        raise UsageError(f"{self.question.name} is not asked of a history")

    def answerer(
        self, source: Any, moment: int, model: ModelDir | None, settings: Settings
    ) -> Answerer:
        """What answers of a source as of a moment (µs), by a model or without one.

        Where the question has `jobs`, a `HistoryAnswerer`.
        """
        ...

    def overview(self, source: Any, settings: Any, /) -> Overview:
        """What a source of the question shows before any model, under the question's settings."""
        from jobsight.reports.overview import Overview

        return Overview(())

    def own_parts(self, shown: Shown) -> OwnParts | None:
        """What the question adds to its report; None: nothing."""
        return None

    def require_answerable(self, settings: Any) -> None:
        """Refuse settings whose models cannot answer what is asked now.

        Raises:
            ModelError: models of these settings predict something else.
        """
        return

    def score_answers(
        self, model: ModelDir, data: Dataset, rows: NDArray[Any], truth: Path | None
    ) -> dict[str, Any] | None:
        """What following the answers would have got, where more is answered than a probability.

        Args:
            model: that answers.
            data: decisions as it sees them.
            rows: bool, of `data.table`: those to score.
            truth: file of what was planted; None: there is none.
        """
        return None
