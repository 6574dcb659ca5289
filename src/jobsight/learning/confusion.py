"""Stored predictions of kinds against what was observed, counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from jobsight.documents import JobDocument, parse_key
from jobsight.learning.question import Question

__all__ = ["Confused", "confusion"]


@dataclass(frozen=True)
class Confused:
    """How often a model predicted one kind where another was observed.

    Attributes:
        model: as answers name it.
        predicted: a kind, or another word of the question's, such as ``unsure``.
        observed: the kinds that the observation leaves possible; none: it is not known yet.
        source: of the observation.
        jobs: how many.
        right: whether the predicted kind is among the observed ones; None where none is known.
    """

    model: str
    predicted: str
    observed: tuple[str, ...]
    source: str | None
    jobs: int
    right: bool | None

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def confusion(
    question: Question[Any], documents: Iterable[JobDocument], decisions: pl.DataFrame
) -> list[Confused]:
    """Compare the first prediction of each model for each job with what was observed.

    Args:
        question: whose main target is of kinds.
        documents: that hold predictions.
        decisions: its table, with `possible`, the kinds that an observation leaves, and `source`.

    Returns:
        By model, then the most frequent first.
    """
    target = next(iter(question.targets))
    rows: dict[tuple[str, str], str] = {}
    for document in documents:
        key = parse_key(document.id)
        for one in sorted(document.predictions, key=lambda one: one.time):
            kind = one.answer.get(target)
            if one.question == question.name and isinstance(kind, str):
                rows.setdefault((one.model, f"{key.cluster} {key.job}"), kind)
    found = pl.DataFrame(
        [(model, job, kind) for (model, job), kind in rows.items()],
        schema={"model": pl.String, "job": pl.String, "predicted": pl.String}, orient="row",
    )  # fmt: skip
    observed = decisions.select(question.job.alias("job"), "possible", "source")
    counts = found.join(observed, on="job", how="left").group_by(
        "model", "predicted", "possible", "source"
    ).len()  # fmt: skip
    return [
        Confused(model, predicted, tuple(possible or ()), source, jobs,
                 predicted in possible if possible else None)
        for model, predicted, possible, source, jobs in counts.sort(
            "model", "len", "predicted", descending=[False, True, False]
        ).iter_rows()
    ]  # fmt: skip
