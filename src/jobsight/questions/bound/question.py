"""The question `bound` as the contract wants it: programs, and which resource bound their runs."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import polars as pl
from pydantic import Field

from jobsight.errors import ModelError
from jobsight.learning.modeldir import ModelDir
from jobsight.learning.question import Decisions, Question, Stratum
from jobsight.learning.targets import Classes, Shares, Target
from jobsight.models.base import Inputs
from jobsight.program.examples import Example
from jobsight.program.tree.vocabulary import VERSION
from jobsight.questions.bound.programs import BOUND, FAMILIES, Features, read, table_of
from jobsight.settings import BoostedSettings, QuestionSettings

__all__ = ["BOUND_QUESTION", "SHIPPED", "Bound", "BoundSettings", "Encoding"]


class BoundSettings(QuestionSettings):
    """The question `bound`."""

    metric: Literal["log_loss", "macro_f1", "accuracy"] = "macro_f1"
    bootstrap: Annotated[int, Field(ge=100, le=100_000)] = 500
    boosted: BoostedSettings = BoostedSettings()
    unsure_below: Annotated[float, Field(ge=0, le=1)] = 0.4
    """An answer with less confidence is ``unsure``."""


SHIPPED = Path(__file__).parent / "default"
"""The model that ships with Jobsight."""


@cache
def _shipped(question: Question[BoundSettings]) -> ModelDir | None:
    """The model that ships; None: there is none, or one of an older version of trees."""
    with contextlib.suppress(ModelError):
        return ModelDir.open(SHIPPED, question, only_chosen=True)
    return None


@dataclass(frozen=True)
class Encoding:
    """Nothing is learned before the models; programs must be read as those in training were."""

    version: int = VERSION

    @property
    def horizon_micros(self) -> int:
        """No limit."""
        return 0

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"version": self.version}


class Bound(Question[BoundSettings]):
    """Which resource will bind a program?

    See `jobsight.learning.question.Question`.
    """

    name: ClassVar[str] = "bound"
    title: ClassVar[str] = "Which resource will bind it?"
    settings = BoundSettings
    targets: ClassVar[Mapping[str, Target]] = {"class": Classes(BOUND), "shares": Shares(BOUND)}
    titles: ClassVar[Mapping[str, str]] = {
        "class": "what binds it",
        "shares": "the shares of its time",
    }
    models: ClassVar[tuple[str, ...]] = (
        "constant", "rule", "text", "svm", "boosted", "forest", "dense", "recurrent", "tree",
        "stack",
    )  # fmt: skip
    members: ClassVar[tuple[str, ...]] = ("rule", "text", "svm", "forest")
    columns: ClassVar[Mapping[str, str]] = {"rule": "rule"}
    only: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("svm", "boosted", "dense", "recurrent", "tree"), "class"
    )
    reads: ClassVar[Literal["events", "jobs", "programs"]] = "programs"
    timed: ClassVar[bool] = False
    searched: ClassVar[tuple[str, ...]] = ("seed", "boosted")
    key: ClassVar[pl.Expr] = pl.col("id")
    job: ClassVar[pl.Expr] = pl.col("job")
    strata: ClassVar[Mapping[str, Stratum]] = {
        "language": Stratum(pl.col("language"), "By language"),
        "class": Stratum(pl.col("class"), "By class"),
        "source": Stratum(pl.col("source"), "By source of the shares"),
        "family": Stratum(pl.col("family"), "By family", saved=False),
    }
    words: ClassVar[tuple[str, str, str]] = ("program", "programs", "bound")
    families: ClassVar[Mapping[str, tuple[str, ...]]] = FAMILIES

    def decisions(self, source: Sequence[Example], settings: BoundSettings) -> Decisions:
        """Every program with what bound it."""
        table = table_of(source, settings.seed, self._likeliest)
        first, last = (int(table["decided"].to_numpy().min(initial=0)),
                       int(table["decided"].to_numpy().max(initial=0)))  # fmt: skip
        facts = {"programs": len(table), "families": table["family"].n_unique()}
        nothing = "nothing to learn from: there are no measured programs"
        return Decisions(table, first, last, facts=facts, nothing=nothing)

    def _likeliest(self, example: Example) -> str | None:
        """The class of an example whose measurement leaves several possible; None: unknown.

        Partial labels: the likeliest of the possible ones is learned (Jin and Ghahramani, NIPS
        2002).
        """
        model = _shipped(self)
        if model is None:
            return None
        inputs = Features([example]).inputs([read(example.path, example.text)])
        chances = model.targets["class"].answering.predict(inputs)[0]
        possible = {kind: chances[k] for k, kind in enumerate(BOUND) if kind in example.classes}
        return max(possible, key=lambda kind: possible[kind]) if possible else None

    def encoding(self, rows: pl.DataFrame, settings: BoundSettings) -> Encoding:
        """The version of trees and features."""
        return Encoding()

    def encoding_from(self, data: Mapping[str, Any]) -> Encoding:
        """See `Encoding.to_json`."""
        if data["version"] != VERSION:
            raise ValueError(f"its trees have version {data['version']!r}, not {VERSION}")
        return Encoding(int(data["version"]))

    def builder(
        self, source: Sequence[Example], encoding: Encoding, settings: BoundSettings
    ) -> Features:
        """Reads programs."""
        return Features(source)

    def again(
        self, source: Sequence[Example], row: pl.DataFrame, encoding: Encoding,
        settings: BoundSettings, moment: str,
    ) -> Inputs | None:  # fmt: skip
        """The same from a source of this program alone, without what bound it."""
        of = source[int(row["example"][0])]
        alone = Example(of.id, of.path, of.text, of.language, "", {}, (), arguments=of.arguments)
        return Features([alone]).build(row.with_columns(example=pl.lit(0)), moment)[1]


BOUND_QUESTION = Bound()
