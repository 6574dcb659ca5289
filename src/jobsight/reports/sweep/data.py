"""What the report of a sweep is made of: runs, and the columns of what was searched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jobsight.learning.sweep.parameters import Parameter
from jobsight.learning.sweep.runrecord import Attempt
from jobsight.models import is_baseline
from jobsight.reports.sweep.scales import Column, Floats, column

__all__ = ["STATUSES", "Examination", "Run", "SweepData"]

STATUSES = {
    "finished": "finished",
    "early": "stopped early",
    "dropped": "dropped",
    "failed": "failed",
    "running": "running",
    "waiting": "not started",
}
"""How runs ended or how far they are, in words."""

SHADES = 7
"""Colours by rank, worst to best: classes ``c0`` to ``c6`` of the style sheet."""

MOST_MODELS = 40
MOST_DRAWN = 1000
"""Runs drawn in one picture; of more, the best half as many and every so-many-th of the rest."""


@dataclass(frozen=True)
class Run:
    """One training.

    Attributes:
        number: in the sweep.
        status: one of `STATUSES`.
        parameters: flat, by name.
        metric: of the validation block, as configured; None where unknown or not finite.
        epochs: int64 (e,), rising; those of the last attempt where an epoch was done twice.
        train, select: float64 (e,), losses after each; NaN where unknown.
        epoch_seconds: float64 (e,).
        best_epoch: whose weights were kept.
        repeated: epochs that were done more than once.
        seconds, cpu_seconds, peak_bytes: None where unknown.
    """

    number: int
    status: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    metric: float | None = None
    cause: str | None = None
    epochs: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    train: Floats = field(default_factory=lambda: np.zeros(0))
    select: Floats = field(default_factory=lambda: np.zeros(0))
    epoch_seconds: Floats = field(default_factory=lambda: np.zeros(0))
    best_epoch: int | None = None
    repeated: int = 0
    attempts: tuple[Attempt, ...] = ()
    seconds: float | None = None
    cpu_seconds: float | None = None
    peak_bytes: int | None = None

    @property
    def evictions(self) -> int:
        """Attempts that ended before their work was done."""
        return sum(one.cut_short for one in self.attempts)

    @property
    def ended(self) -> int | None:
        """When its last attempt ended: µs since 1970."""
        return max((one.last for one in self.attempts if one.last is not None), default=None)


@dataclass(frozen=True)
class Examination:
    """The best run on the part that was looked at once.

    Attributes:
        report: of the models, as `Evaluation.to_json` of the question writes it.
        network: name of the best run's model among these.
        reason: why the model that answers was chosen.
        looks: how often the part was looked at, each time with another run's network.
    """

    report: Mapping[str, Any]
    network: str = "lstm"
    reason: str = ""
    looks: int = 1

    @cached_property
    def models(self) -> dict[str, Mapping[str, Any]]:
        """The scores of each model, best ROC AUC first."""
        models = self.report["models"]
        order = sorted(models, key=lambda name: (-(models[name].get("roc_auc") or 0.0), name))
        return {name: models[name] for name in order[:MOST_MODELS]}

    @property
    def best_baseline(self) -> float | None:
        """The greatest area under the ROC curve among the baselines; None where none has it."""
        scores = [one.get("roc_auc") for name, one in self.models.items() if is_baseline(name)]
        return max((value for value in scores if value is not None), default=None)

    def interval(self, name: str, kind: str) -> tuple[float | None, float | None, float | None]:
        """A value of a model with its 95 % interval; None where unknown.

        Args:
            name: of the model.
            kind: ``auc``, or ``gain``: loss less the best baseline's; below 0 is better.
        """
        scores = self.models[name]
        if kind == "auc":
            return scores.get("roc_auc"), *(scores.get("roc_auc_ci") or (None, None))
        gain = scores.get(f"{self.report['loss']}_gain") or {}
        return gain.get("value"), gain.get("low"), gain.get("high")


@dataclass(frozen=True)
class SweepData:
    """Everything that one report shows.

    Attributes:
        name: of the sweep.
        config: as it was frozen: plain data.
        metric: name of what was looked for, on the validation block.
        maximize: whether more of it is better.
        runs: in order of their numbers.
        space: what was searched, in the config's order.
        chosen: number of the best run as the sweep itself chose it; None: the best known now.
        test: None where no model was tested yet.
        provenance: what to say of the sources: pairs of a name and words.
        notes: what could not be read, in a sentence each.
    """

    name: str
    config: Mapping[str, Any]
    metric: str
    maximize: bool
    runs: Sequence[Run]
    space: Sequence[Parameter] = ()
    chosen: int | None = None
    test: Examination | None = None
    provenance: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()

    @cached_property
    def values(self) -> Floats:
        """The metric of each run: float64 (n,), NaN where it has none."""
        metrics = [np.nan if run.metric is None else run.metric for run in self.runs]
        return np.array(metrics, np.float64)

    @cached_property
    def judged(self) -> NDArray[np.int64]:
        """Places of the runs with a metric that did not fail, best first; ties: the lower run."""
        there = [
            np.isfinite(value) and run.status != "failed"
            for value, run in zip(self.values, self.runs, strict=True)
        ]
        places = np.flatnonzero(np.array(there, bool))
        worth = -self.values[places] if self.maximize else self.values[places]
        return places[np.argsort(worth, kind="stable")]

    @cached_property
    def failed(self) -> NDArray[np.int64]:
        """Places of the runs that failed."""
        return np.flatnonzero(np.array([run.status == "failed" for run in self.runs], bool))

    @cached_property
    def best(self) -> int | None:
        """Place of the best run: that which was chosen, else the best that ended with a model.

        Before any has ended, the best so far; None where no run has a metric.
        """
        ended = [p for p in self.judged if self.runs[p].status in ("finished", "early")]
        chosen = [p for p in self.judged if self.runs[p].number == self.chosen]
        first = next(iter([*chosen, *ended, *self.judged]), None)
        return None if first is None else int(first)

    @cached_property
    def shades(self) -> NDArray[np.int64]:
        """Colour of each run, 0 (worst) to `SHADES` − 1 (best), by rank: int64 (n,); −1: none."""
        shades = np.full(len(self.runs), -1, np.int64)
        count = len(self.judged)
        worst_first = np.arange(count)[::-1]
        shades[self.judged] = worst_first * SHADES // count if count > 1 else SHADES - 1
        return shades

    @cached_property
    def drawn(self) -> NDArray[np.int64]:
        """Places of the judged runs that pictures show, worst first, so that the best lie on top.

        All of them, or where these are too many the best and an even choice of the rest.
        """
        if len(self.judged) <= MOST_DRAWN:
            return self.judged[::-1]
        half = MOST_DRAWN // 2
        rest = np.linspace(half, len(self.judged) - 1, half).astype(np.int64)
        return self.judged[np.append(np.arange(half), rest)][::-1]

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """What was searched, in the config's order; constants are left out where others vary."""
        searched = {one.name: one for one in self.space}
        names = dict.fromkeys(name for run in self.runs for name in run.parameters)
        order = {name: k for k, name in enumerate(searched)}
        found = [
            column(name, [run.parameters.get(name) for run in self.runs], searched.get(name))
            for name in sorted(names, key=lambda name: order.get(name, len(order)))
        ]
        varying = [one for one in found if one.varies]
        return tuple(varying or found)

    def status_counts(self) -> dict[str, int]:
        """How many runs have each of `STATUSES`."""
        counts = Counter(run.status for run in self.runs)
        return {name: counts[name] for name in STATUSES}
