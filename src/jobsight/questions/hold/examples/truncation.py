"""The proof that no example rests on anything written after its decision.

For each example the event table is cut where the decision stands, everything is built again from
that table alone, and the two must be equal bit by bit. What lies after the cut does not exist in
the second building, so nothing there can have told anything.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.history.labels import RowLabels, label_rows
from jobsight.history.timelines import SECOND, History, Ints
from jobsight.models.base import Inputs
from jobsight.questions.hold.examples.builder import ExampleBuilder
from jobsight.questions.hold.examples.decisions import held_jobs
from jobsight.questions.hold.examples.scale import Scale
from jobsight.settings import HoldSettings

__all__ = ["Proof", "as_seen", "prove_as_of"]

_KEPT = ("log", "time", "source", "offset")


@dataclass(frozen=True)
class Proof:
    """What came of building examples again without the future.

    Attributes:
        checked: number of examples built again.
        differences: row of the decision table, and the first thing that differs there.
    """

    checked: int
    differences: tuple[tuple[int, str], ...]

    @property
    def holds(self) -> bool:
        """Whether nothing differs."""
        return not self.differences


def prove_as_of(
    history: History,
    decisions: pl.DataFrame,
    settings: HoldSettings,
    scale: Scale,
    *,
    delay: float = 0.0,
    rows: Ints | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Proof:
    """Build examples as usual, and each of them again from the logs cut off at its decision.

    Features, causes, facts and frames are compared, bit by bit. A pool's log of 90 000 rows takes
    about a tenth of a second an example and core.

    Args:
        history: the whole history.
        decisions: rows of `jobsight.questions.hold.examples.decisions.Decisions.table`.
        settings: of the question.
        scale: as learned; it is not learned again, since it comes from the training part alone.
        delay: seconds before the release, as in `ExampleBuilder.build`.
        rows: indices into the examples that `ExampleBuilder.build` gives; None: all of them.
        progress: called with the number checked and the number to check.
    """
    table, inputs = ExampleBuilder(history, settings, scale).build(decisions, delay=delay)
    rows = np.arange(len(table)) if rows is None else rows

    def check(row: int) -> str | None:
        decision = table[int(row)]
        again = History.from_table(as_seen(history, decision))
        labels = label_rows(again)
        found = _found_again(again, labels, decision)
        if not len(found):
            return "the job is not held there"
        short = ExampleBuilder(again, settings, scale, labels=labels)
        return _difference(inputs.take(np.array([row])), short.ask(found, delay=delay).inputs)

    return Proof(len(rows), _differences(rows, check, progress))


def _differences(
    rows: Ints,
    check: Callable[[int], str | None],
    progress: Callable[[int, int], None] | None,
) -> tuple[tuple[int, str], ...]:
    """The rows that differ, and in what, checked on all cores."""
    differences = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done, (row, what) in enumerate(zip(rows, pool.map(check, rows), strict=True), 1):
            if what is not None:
                differences.append((int(row), what))
            if progress is not None:
                progress(done, len(rows))
    return tuple(differences)


def as_seen(history: History, decision: pl.DataFrame) -> pl.DataFrame:
    """The event table as one decision sees it.

    Rows after the cut are gone. Of releases (013) of the decision's own second, and of the ads
    (028) after them, only time and place in the file remain: that some record stood there.

    Args:
        history: the whole history.
        decision: one row of a decision table.
    """
    log, cut, moment = (int(decision[name][0]) for name in ("log", "cut", "time"))
    own = history.log == log
    seen = np.where(own, np.arange(len(history)) < cut, history.clock < moment)
    table = history.table.with_columns(blank=_hidden(history, moment)).filter(seen)
    # Negative ids are those of records of no job.
    values = dict.fromkeys(("cluster", "proc", "subproc"), pl.lit(-1))
    values["code"] = pl.lit(EventCode.AD)
    return table.select(
        pl.when("blank").then(values.get(name, pl.lit(None))).otherwise(name).cast(kind).alias(name)
        if name not in _KEPT
        else pl.col(name)
        for name, kind in history.table.schema.items()
    )


def _found_again(again: History, labels: RowLabels, decision: pl.DataFrame) -> pl.DataFrame:
    """The decision as the cut logs tell it: one row, none if its job is not held there."""
    log, moment = int(decision["log"][0]), int(decision["time"][0])
    mine = pl.all_horizontal(
        pl.col(name).eq_missing(pl.lit(decision[name][0], decision.schema[name]))
        for name in ("log", "access_point", "cluster", "proc")
    )
    jobs = np.flatnonzero(again.jobs.select(mine).to_series().to_numpy())
    end = int(again.log_start[log + 1])
    return held_jobs(again, moment, labels, jobs).with_columns(
        cut=pl.lit(end, pl.Int64), time=pl.lit(moment, pl.Int64)
    )


def _hidden(history: History, moment: int) -> NDArray[np.bool_]:
    """The releases of the decision's own second, and the ads that stand right after them."""
    hidden: NDArray[np.bool_] = (history.code == EventCode.RELEASED) & (
        history.clock >= moment - moment % SECOND
    )
    its_ad = (history.code == EventCode.AD)[1:] & (history.job[1:] == history.job[:-1])
    # An 028 that tells an ad by itself stands behind another record than its own.
    of_other = history.table["attributes"].is_not_null().to_numpy()
    hidden[1:] |= its_ad & hidden[:-1] & ~of_other[1:]
    return hidden


def _difference(inputs: Inputs, again: Inputs) -> str | None:
    """The first thing that differs between one example and the same built again."""
    for place, name in enumerate(inputs.names):
        if inputs.features[:, place].tobytes() != again.features[:, place].tobytes():
            return name
    for name, column in (*inputs.causes.items(), *inputs.facts.items()):
        if column[0] != {**again.causes, **again.facts}[name][0]:
            return name
    if inputs.frames is not None and again.frames is not None:
        return None if inputs.frames.tobytes() == again.frames.tobytes() else "frames"
    return None
