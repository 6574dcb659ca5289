"""The chances of held jobs: by a trained model, else by the log's own rates, as of any moment.

A mixture goes on learning: its weights follow the outcomes of releases that it was not trained on,
each once it is known (`jobsight.learning.mixture`). Its members stay as they were trained; what
they say of an earlier release is worked out once, so the weights as of a moment take a millisecond.

Where there is no model yet, today's rules and this log's own rates answer. Rates lean from cause to
code to all, as `jobsight.models.rates` has them, over the batches that had ended by then; the
interval is Wilson's, widened as in `jobsight.models.calibration` with φ = 1. Both are marked as
uncalibrated: nothing has compared them with later outcomes.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.history.labels import RowLabels
from jobsight.history.outcomes import apply_horizon
from jobsight.learning.dataset import batch_weights
from jobsight.learning.fingerprints import fingerprints
from jobsight.learning.mixture import Mixture, Times, Weights, mix
from jobsight.learning.modeldir import Fitted, ModelDir
from jobsight.models.base import Floats, Inputs
from jobsight.models.calibration import wilson
from jobsight.models.rates import RateTable
from jobsight.models.rules import Among, Arm, Between, RuleSet
from jobsight.questions.hold.answering.findings import Finding, Findings
from jobsight.questions.hold.answering.verdict import Chance
from jobsight.questions.hold.examples.builder import ExampleBuilder
from jobsight.questions.hold.examples.evidence import Evidence
from jobsight.remembering import remembered

__all__ = ["LABEL", "RULE_SETS", "Predictor", "cluster_rate", "delays_of", "log_rate",
           "rule_findings"]  # fmt: skip

MOST = 1000
"""Latest outcomes that weights follow: the shares of a mixture forget those before."""


def delays_of(model: ModelDir) -> dict[float, Fitted]:
    """What answers for each delay that "wait" may propose, by seconds."""
    return {float(moment): of.answering for moment, of in model.main.moments.items()}


class Predictor:
    """Chances of held jobs of one history by a model. May be asked from one thread at a time."""

    def __init__(
        self, model: ModelDir, decisions: pl.DataFrame, labels: RowLabels, evidence: Evidence
    ) -> None:
        """Index a history.

        Args:
            model: trained.
            decisions: of the history, `jobsight.questions.hold.examples.decisions.hold_decisions`.
            labels: of its rows.
            evidence: in it.
        """
        self._answering = model.answering
        model_of = model.answering.model
        self._mixture = model_of if isinstance(model_of, Mixture) else None
        self._delays = sorted(delays_of(model).items())
        # Only the recurrent model reads frames.
        frames = model_of.name == "lstm"
        self._builder = ExampleBuilder(
            evidence.history, model.settings, model.encoding, labels, evidence, frames=frames
        )  # fmt: skip
        known = apply_horizon(decisions, model.encoding.horizon_micros).filter(
            "kept", ~pl.col("edited"), pl.col("outcome").is_not_null()
        )
        taught = np.isin(fingerprints(known, model.question.key), model.seen)
        self._known = known.filter(pl.Series(~taught))
        self._said: Floats | None = None
        self._weights = remembered(self._weights_at, 64)

    def chances(self, asked: pl.DataFrame) -> tuple[list[list[Chance]], list[str]]:
        """The chances of each job, releasing now first, and hashes of what the model read.

        Args:
            asked: n held jobs or decisions, each as of its `cut` and `time`.
        """
        chances: list[list[Chance]] = [[] for _ in range(len(asked))]
        if not len(asked):
            return chances, []
        models = [(0.0, self._answering), *self._delays]
        waits = np.repeat([wait for wait, _ in models], len(asked))
        # One question for all waits: most of its cost does not grow with the rows.
        inputs = self._builder.inputs(pl.concat([asked] * len(models)), waits)
        for number, (wait, fitted) in enumerate(models):
            rows = inputs.take(np.arange(len(asked)) + number * len(asked))
            if self._mixture is not None and fitted is self._answering:
                said, mixed = self._mixture.each(rows), np.empty(len(asked))
                moments = asked["time"].to_numpy()
                for moment in np.unique(moments).tolist():
                    own = moments == moment
                    mixed[own] = self._weights(moment).mean(said[own])
                probability = fitted.calibrated.apply(mixed)
            else:
                probability = fitted.predict(rows)
            low, high = fitted.bounds(probability)
            for place, bounds in enumerate(zip(probability, low, high, strict=True)):
                chances[place].append(Chance(wait, *map(float, bounds)))
        return chances, inputs.take(np.arange(len(asked))).digests()

    def _weights_at(self, moment: int) -> Weights:
        """The mixture's weights that follow from outcomes known before a moment (µs)."""
        assert self._mixture is not None
        known_at = self._known["resolved_time"].to_numpy()
        rows = np.flatnonzero(known_at < moment)[-MOST:]
        known = self._known[rows]
        # What each member said of these releases as of their cuts: float64 (known, members).
        if self._said is None:
            self._said = np.full((len(self._known), len(self._mixture.members)), np.nan)
        new = rows[np.isnan(self._said[rows, 0])]
        if len(new):
            self._said[new] = self._mixture.each(self._builder.inputs(self._known[new]))
        times = Times(
            known["outcome"].cast(pl.Boolean).to_numpy(),
            batch_weights(known["batch"].to_numpy()),
            known["time"].to_numpy(),
            known_at[rows],
            np.zeros(len(rows), np.int64),
        )
        return mix(self._said[rows], times, self._mixture.weights, moment)[1]


LABEL = "rules+rates (uncalibrated)"
_LEVELS = ("all", "code", "cause")
_WIDENING = 2.0


_CODE, _CAUSE = ("hold_code",), ("hold_code", "hold_subcode")


def _rules(name: str, *among: Among | Between, rest: str = "remove") -> RuleSet:
    release = (Arm("release", True, among),) if among else ()
    return RuleSet(name, (*release, Arm(rest, False)))


RULE_SETS: Mapping[str, RuleSet] = {
    "crab": _rules("crab", Among(_CODE, ((6,), (13,), (28,), (30,)))),
    "gridpack": _rules(
        "gridpack", Among(_CAUSE, ((26, 119), (26, 120), (13, None), (30, 256), (12, 28), (6, 0)))
    ),
    "ospool": _rules(
        "ospool", Between("num_holds", high=4), Among(_CODE, ((46,), (47,)), negated=True),
        rest="keep",
    ),
    "pegasus": _rules("pegasus"),
    "wmcore": _rules("wmcore"),
}  # fmt: skip
"""Rules for held jobs, as sites and experiments run them: baselines that a model must beat.

- crab: CMS CRAB releases four codes and removes the rest after seven minutes.
- gridpack: CMS gridpack production releases six causes.
- ospool: the OSPool's access points release up to the fourth hold, unless a duration was exceeded.
- pegasus, wmcore: never release; remove after four hours, after ten minutes.
"""


def log_rate(findings: Findings, hold_row: int, *, alone: bool = False) -> Chance | None:
    """P(success) of a release now by this log's own rates; None before any of its code ended.

    With `alone`, before any of its cause did. Of vacates holds of any sub-code count as of theirs:
    the sub-codes of one fault differ by HTCondor's version.
    """
    counts = [findings.ended(level, hold_row) for level in _LEVELS]
    if findings.vacated(hold_row):
        counts[1] = findings.ended("class", hold_row)
    if not counts[2 if alone else 1].batches:
        return None
    weight = np.array([[float(count.batches) for count in counts]])
    success = np.array([[count.batch_successes for count in counts]])
    table = RateTable(_LEVELS[1:], cells={(): (float(weight[0, 0]), float(success[0, 0]))})
    rate = table.rates(weight, success)[:, -1]
    return _chance(rate, weight[:, -1], success[:, -1])


def cluster_rate(findings: Findings, hold_row: int) -> Chance | None:
    """P(success) by the releases of its cluster for its cause alone; None before any ended."""
    count = findings.ended("cluster and cause", hold_row)
    if not count.batches:
        return None
    weight, success = (np.array([float(of)]) for of in (count.batches, count.batch_successes))
    return _chance((success + 1.0) / (weight + 2.0), weight, success)


def _chance(
    rate: NDArray[np.float64], weight: NDArray[np.float64], success: NDArray[np.float64]
) -> Chance:
    """The chance of a rate, with the interval that so many batches leave it."""
    count = weight / _WIDENING + 1.0
    low, high = wilson((success / _WIDENING + rate) / count, count)
    value = float(rate[0])
    return Chance(0.0, value, min(float(low[0]), value), max(float(high[0]), value))


def rule_findings(held: pl.DataFrame, num_holds: NDArray[np.int64]) -> list[Finding]:
    """What each of today's rule sets says of each held job: n findings.

    Args:
        held: n rows of `jobsight.questions.hold.examples.decisions.held_jobs`.
        num_holds: int64 (n,), how often each was held, this hold among them.
    """
    facts = {
        name: held[name].cast(pl.Int64).fill_null(-1).to_numpy()
        for name in ("hold_code", "hold_subcode")
    }
    nothing = np.zeros((len(held), 0), np.float32)
    inputs = Inputs(nothing, (), {}, facts | {"num_holds": num_holds}, None, 0)
    arms = {name: rules.arm_of(inputs) for name, rules in RULE_SETS.items()}
    findings: list[Finding] = []
    for row in range(len(held)):
        verdicts = {name: of.arms[int(arms[name][row])].name for name, of in RULE_SETS.items()}
        text = ", ".join(f"{name} would {verdict}" for name, verdict in verdicts.items())
        findings.append({"what": "rules", "text": f"today's rules: {text}", "verdicts": verdicts})
    return findings
