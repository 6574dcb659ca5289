"""The decisions of a source with their parts and outcomes, and examples made of them.

What is before a border trains, what is after it tests. All times are int64 microseconds since 1970,
UTC.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.errors import TrainingError
from jobsight.learning.fingerprints import fingerprints
from jobsight.learning.modeldir import ModelDir
from jobsight.learning.question import Builder, Decisions, Question
from jobsight.learning.targets import Target
from jobsight.models.base import Ints, Labelled
from jobsight.settings import QuestionSettings

__all__ = ["PARTS", "Dataset", "Split", "batch_weights", "censoring_weights",
           "drawn_together", "part_borders", "split_forward", "split_random"]  # fmt: skip

PARTS = ("train", "test")
DROPS = ("", "end_of_part", "outcome_later", "crosses_border")
"""Kinds of dropped rows, as indices of `Split.dropped`; 0 is a row that stays."""
END_OF_PART, OUTCOME_LATER, CROSSES_BORDER = 1, 2, 3


@dataclass(frozen=True)
class Split:
    """Which part each of n rows belongs to.

    Attributes:
        part: int8 (n,): index into `PARTS`; −1 for a dropped row.
        dropped: int8 (n,): index into `DROPS`, 0 for a row that stays.
        borders: int64 (3,): part k holds the times borders[k] ≤ t < borders[k + 1]; empty for a
            random split.
    """

    part: NDArray[np.int8]
    dropped: NDArray[np.int8]
    borders: Ints

    def rows(self, name: str) -> Ints:
        """Indices of the rows of a part, in order: int64 (k,)."""
        return np.flatnonzero(self.part == PARTS.index(name)).astype(np.int64)


def part_borders(time: Ints, batch: Ints, shares: Sequence[float], end: int) -> Ints:
    """Borders that give each of k parts its share of the batches, in time order: int64 (k + 1,).

    A batch stands where its first row does. Borders are times: rows of one moment share a part.

    Of times and batches (n,); only the proportions of `shares` count; `end` is that of the history.

    Raises:
        TrainingError: there are no rows.
    """
    if not len(time):
        raise TrainingError("there are no decisions with a known outcome to learn from")
    _, number = np.unique(batch, return_inverse=True)
    first = np.full(int(number.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, number, time)
    first.sort()
    edges = np.cumsum(np.array(shares[:-1], dtype=np.float64)) / sum(shares)
    after = int(max(end, int(time.max()))) + 1
    inner = [first[index] if index < len(first) else after
             for index in np.rint(edges * len(first)).astype(np.int64)]  # fmt: skip
    return np.array([first[0], *inner, after], dtype=np.int64)


def split_forward(
    time: Ints, batch: Ints, group: Ints, resolved: Ints, *, borders: Ints, horizon: int
) -> Split:
    """A train and a test part in time order, of which the first knows nothing of the second.

    Dropped are, counted by the first kind that applies:

    - ``end_of_part``: decisions of the test part within `horizon` of its end, whatever became of
      them; in the train part those that are known by then stand for the rest
      (`dataset.censoring_weights`);
    - ``outcome_later``: those whose outcome was not known at the end of their part;
    - ``crosses_border``: those of a group or batch that has a row in the test part.

    Rows of one `batch`, or of one `group`, have equal numbers; `resolved` is when the outcome was
    known. `borders` (3,) are where the train part begins, the test part begins, and all ends.
    """
    tests = time >= borders[1]
    ends = np.where(tests, borders[2], borders[1])
    dropped = np.zeros(len(time), dtype=np.int8)
    dropped[~tests & (np.isin(batch, batch[tests]) | np.isin(group, group[tests]))] = CROSSES_BORDER
    dropped[resolved >= ends] = OUTCOME_LATER
    dropped[tests & (time > ends - horizon)] = END_OF_PART
    return Split(np.where(dropped > 0, -1, tests).astype(np.int8), dropped, borders)


def split_random(unit: Ints, *, test: float, seed: int) -> Split:
    """Parts drawn by chance: only to show how much such a split flatters.

    `unit` (n,) is what stays together: groups, or ``arange(n)`` for rows on their own; `test` is
    the share of the test part, in units.
    """
    values, number = np.unique(unit, return_inverse=True)
    place = np.random.default_rng(seed).permutation(len(values))
    part = (place >= round((1.0 - test) * len(values))).astype(np.int8)
    return Split(part[number], np.zeros(len(unit), dtype=np.int8), np.zeros(0, dtype=np.int64))


MOST_WEIGHT = 5.0
_NEVER = int(np.iinfo(np.int64).max)

Mask = NDArray[np.bool_]


def batch_weights(batch: NDArray[np.integer]) -> NDArray[np.float64]:
    """One over the number of members that each row's batch has among these rows: float64 (n,)."""
    _, inverse, counts = np.unique(batch, return_inverse=True, return_counts=True)
    return np.asarray(1.0 / counts[inverse])


def drawn_together(table: pl.DataFrame) -> Ints:
    """What resampling draws as a whole, of each row of a table of decisions: int64 (n,)."""
    name = "drawn" if "drawn" in table.columns else "batch"
    return table[name].cast(pl.Int64).to_numpy()


@dataclass(frozen=True)
class Dataset:
    """The kept decisions of a source, and the encoding that they are seen by.

    Attributes:
        question: that is asked.
        source: what the decisions were made of.
        decisions: every decision, with the counts of what is none.
        settings: of the question.
        encoding: learned from the training part.
        table: the kept decisions (n) in time order, resolved within the horizon, with `place` (the
            row), `part` (index into `PARTS`, −1: dropped), `dropped` (index into `DROPS`), `nth`
            (how many before it are drawn together with it).
        borders: int64 (3,), µs: of the parts.
        target: name of what is predicted.
    """

    question: Question[Any]
    source: Any
    decisions: Decisions
    settings: QuestionSettings
    encoding: Any
    table: pl.DataFrame
    borders: Ints
    target: str

    @classmethod
    def for_training(
        cls, question: Question[Any], source: Any, settings: QuestionSettings
    ) -> Dataset:
        """Split a source in two; the encoding is learned from its train part alone.

        Raises:
            TrainingError: there are no decisions, or none whose outcome was known in time.
        """
        decisions = question.decisions(source, settings)
        kept = decisions.table.filter("kept")
        if not len(kept):
            raise TrainingError(decisions.nothing)
        borders = part_borders(
            kept["decided"].to_numpy(),
            kept["batch"].to_numpy(),
            (1.0 - settings.test_share, settings.test_share),
            decisions.until + 1,
        )
        known = kept.filter(pl.max_horizontal("decided", "known_at") < borders[1])
        encoding = question.encoding(known, settings)
        return cls._split(question, source, decisions, settings, encoding, borders)

    @classmethod
    def for_judging(cls, source: Any, model: ModelDir) -> Dataset:
        """All decisions of a source as one part, as a trained model sees them."""
        return cls._as_trained(source, model, None)

    @classmethod
    def for_audit(cls, source: Any, model: ModelDir) -> Dataset:
        """The parts that taught a model, where `source` is its own (see `holds_all_of`)."""
        return cls._as_trained(source, model, model.borders)

    @classmethod
    def _as_trained(cls, source: Any, model: ModelDir, borders: Ints | None) -> Dataset:
        decisions = model.question.decisions(source, model.settings)
        if borders is None:
            end = decisions.until + 1
            borders = np.array([np.iinfo(np.int64).min] * 2 + [end], np.int64)
        return cls._split(
            model.question, source, decisions, model.settings, model.encoding, borders
        )

    @classmethod
    def _split(
        cls,
        question: Question[Any],
        source: Any,
        decisions: Decisions,
        settings: QuestionSettings,
        encoding: Any,
        borders: Ints,
    ) -> Dataset:
        table = question.resolved(decisions.table.filter("kept"), encoding)
        together = pl.col("drawn" if "drawn" in table.columns else "batch")
        table = table.with_columns(
            place=pl.int_range(pl.len()), nth=pl.int_range(pl.len()).over(together)
        )
        table = _in_parts(table, borders, encoding.horizon_micros)
        target = next(iter(question.targets))
        return cls(question, source, decisions, settings, encoding, table, borders, target)

    @cached_property
    def builder(self) -> Builder:
        """Builds inputs from this source; indexed once."""
        return self.question.builder(self.source, self.encoding, self.settings)

    def seen_by(self, target: str) -> Dataset:
        """The same dataset for another target; what was indexed stays.

        Where its outcomes have times of their own, it has parts of its own, by the same borders.
        """
        if target == self.target:
            return self
        table, own = self.table, f"known_at {target}"
        if own in table.columns:
            table = table.with_columns(known_at=own, censored=f"censored {target}")
            table = _in_parts(table, self.borders, self.encoding.horizon_micros)
        other = replace(self, target=target, table=table)
        other.__dict__["builder"] = self.builder
        return other

    @property
    def goal(self) -> Target:
        """What is predicted."""
        return self.question.targets[self.target]

    def part(self, name: str) -> Mask:
        """The decisions of a part: bool (n,)."""
        return np.asarray(self.table["part"].to_numpy() == PARTS.index(name))

    def since_test(self) -> Mask:
        """The decisions from the test part's beginning on, dropped ones too: bool (n,)."""
        return np.asarray(self.table["decided"].to_numpy() >= self.borders[1])

    def holds_all_of(self, model: ModelDir) -> bool:
        """Whether every decision that taught `model` is here: its own source, or one that grew."""
        here = fingerprints(self.table, self.question.key)
        return bool(np.isin(model.seen, here).all())

    def unseen_by(self, model: ModelDir) -> tuple[Mask, dict[str, int]]:
        """Which decisions a model may be judged on: bool (n,), and the others counted.

        A log that holds any decision the model was trained on counts only from the model's test
        start on, whatever the file is called now and however it has grown.
        """
        known = np.isin(fingerprints(self.table, self.question.key), model.seen)
        log = self.table["log"].to_numpy()
        trained_on = np.isin(log, np.unique(log[known]))
        earlier = trained_on & (self.table["decided"].to_numpy() < model.borders[1])
        counts = {"before_test_start": int(earlier.sum())} | self.dropped(~earlier)
        return ~earlier, {kind: count for kind, count in counts.items() if count}

    def usable(self, rows: Mask) -> Mask:
        """Those of `rows` that are in a part, have an outcome, and may teach."""
        column = self.table.select(
            (pl.col("part") >= 0) & pl.col(self.target).is_not_null() & pl.col("teaches")
        ).to_series()
        return np.asarray(rows & column.to_numpy())

    def judged(self, rows: Mask) -> Mask:
        """Those of `rows` whose value is exact: a bound teaches, and judges nothing."""
        column = f"bound {self.target}"
        if column not in self.table.columns:
            return rows
        return np.asarray(rows & ~self.table[column].to_numpy())

    def usable_of(self, name: str) -> Mask:
        """The decisions of a part that teach or, in the test part, judge: bool (n,)."""
        rows = self.part(name)
        return self.usable(rows if name == "train" else self.judged(rows))

    def known(self) -> pl.DataFrame:
        """Every decision with an outcome that may teach, in a part or not."""
        return self.table.filter(pl.col(self.target).is_not_null() & pl.col("teaches"))

    def labelled(self, rows: Mask, *, moment: str | None = None) -> tuple[pl.DataFrame, Labelled]:
        """Examples of the usable decisions among `rows`, and their part of the table.

        `moment` is one of `Question.moments`, None: the first; decisions that were not yet open
        then are left out.
        """
        return self.examples(self.table.filter(pl.Series(self.usable(rows))), moment=moment)

    def examples(
        self, table: pl.DataFrame, *, moment: str | None = None, weighed: bool = True
    ) -> tuple[pl.DataFrame, Labelled]:
        """Examples of decisions with an outcome, as `labelled` gives them.

        Unless `weighed`, without the weights of outcomes that the border of the test hides.
        """
        first = self.question.moments(self.encoding)[0]
        table, inputs = self.builder.build(table, first if moment is None else moment)
        values = self.goal.values(table[self.target])
        weight = batch_weights(table["batch"].to_numpy())
        # Of jobs that may fail, late outcomes stand for no others: weights made nothing better.
        hidden = self.goal.output.kind == "quantiles" or self.encoding.horizon_micros > 0
        if weighed and hidden and len(table):
            batches = weight.sum()
            weight = weight * table["weighs"].to_numpy()
            weight *= batches / weight.sum()
        return table, Labelled(inputs, values, weight, drawn_together(table), self.goal.output)

    def censored(self, rows: Mask) -> dict[str, int]:
        """Decisions among `rows` without outcome, by kind.

        Those without a value of another target than the first have none because of the first's.
        """
        unknown = pl.col(self.target).is_null()
        if f"censored {self.target}" not in self.table.columns:
            unknown &= pl.col(next(iter(self.question.targets))).is_null()
        elif f"bound {self.target}" in self.table.columns:
            unknown |= pl.col(f"bound {self.target}")
        kinds = self.table.filter(pl.Series(rows), unknown)["censored"]
        return dict(sorted(Counter(kinds.fill_null("unknown").to_list()).items()))

    def dropped(self, rows: Mask) -> dict[str, int]:
        """Decisions among `rows` that are in no part, or may not teach, by reason.

        Those whose outcome is never known are counted by `censored`.
        """
        table = self.table.filter(pl.Series(rows), pl.col("known_at").is_not_null())
        kinds = Counter(DROPS[kind] for kind in table["dropped"] if kind)
        barred = table.filter(
            pl.col("part") >= 0, pl.col(self.target).is_not_null(), ~pl.col("teaches")
        )
        return dict(sorted(kinds.items())) | (
            {self.question.barred: len(barred)} if len(barred) else {}
        )


def _in_parts(table: pl.DataFrame, borders: Ints, horizon: int) -> pl.DataFrame:
    """The table with `part`, `dropped`, and `weighs`, of outcomes that only some could show."""
    decided, known_at = table["decided"].to_numpy(), table["known_at"].fill_null(_NEVER).to_numpy()
    split = split_forward(
        decided,
        table["batch"].to_numpy(),
        table["group"].rank("dense").cast(pl.Int64).to_numpy(),
        known_at,
        borders=borders,
        horizon=horizon,
    )
    weighs, inside = np.ones(len(table)), decided < borders[1]
    weighs[inside] = censoring_weights(decided[inside], known_at[inside], int(borders[1]))
    return table.with_columns(
        part=pl.Series(split.part),
        dropped=pl.Series(split.dropped),
        weighs=pl.Series(weighs),
    )


def censoring_weights(decided: Ints, known_at: Ints, end: int) -> NDArray[np.float64]:
    """Inverse probabilities that outcomes this late are known by a border: float64 (n,).

    Near a border only what is known soon is known at all, so an outcome that took long stands for
    others as late (Robins and Rotnitzky, 1992). The chance is the share of the decisions that were
    taken early enough before the border; a weight is `MOST_WEIGHT` at most.
    """
    room = np.sort(end - decided)
    took = np.minimum(known_at, end) - decided
    early = len(room) - np.searchsorted(room, took)
    return np.clip(len(room) / np.maximum(early, 1), 1.0, MOST_WEIGHT)
