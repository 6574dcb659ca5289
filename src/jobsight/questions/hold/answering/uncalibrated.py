"""Where there is no model yet: today's rules, and this log's own rates as of the moment.

Rates lean from cause to code to all, as `jobsight.models.rates` has them, over the batches that had
ended by then; the interval is Wilson's, widened as in `jobsight.models.calibration` with φ = 1.
Both are marked as uncalibrated: nothing has compared them with later outcomes.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.models.base import Inputs
from jobsight.models.calibration import wilson
from jobsight.models.rates import RateTable
from jobsight.questions.hold.answering.findings import Finding, Findings
from jobsight.questions.hold.answering.verdict import Chance
from jobsight.questions.hold.rulesets import RULE_SETS

__all__ = ["LABEL", "cluster_rate", "log_rate", "rule_findings"]

LABEL = "rules+rates (uncalibrated)"
_LEVELS = ("all", "code", "cause")
_WIDENING = 2.0


def log_rate(findings: Findings, hold_row: int, *, alone: bool = False) -> Chance | None:
    """P(success) of a release now by this log's own rates; None before any of its code ended.

    With `alone`, before any of its cause did.
    """
    counts = [findings.ended(level, hold_row) for level in _LEVELS]
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
        verdicts = {
            name: rules.arms[int(arms[name][row])].name for name, rules in RULE_SETS.items()
        }
        text = ", ".join(f"{name} would {verdict}" for name, verdict in verdicts.items())
        findings.append({"what": "rules", "text": f"today's rules: {text}", "verdicts": verdicts})
    return findings
