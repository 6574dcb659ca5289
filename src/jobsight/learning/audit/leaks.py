"""Does anything reach the model that it could not have known?

That no inputs rest on anything written after their decision is proved: for each decision the source
is cut off there, everything is built again from what is left, and the two must be equal bit by bit.
"""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from jobsight.errors import TrainingError
from jobsight.learning.audit.checks import (
    DOUBTFUL,
    OTHER_LOGS,
    Audited,
    Check,
    Grade,
    Result,
    grade_of,
    power,
)
from jobsight.learning.bootstrap import POWER
from jobsight.learning.dataset import PARTS, batch_weights, split_random
from jobsight.learning.mixture import Mixture
from jobsight.learning.question import Question
from jobsight.learning.train import fit_model
from jobsight.models.base import Floats, Ints, Labelled

__all__ = ["Proof", "check_shuffled", "check_split", "check_truncation", "prove_as_of",
           "shuffle_batches", "shuffle_check"]  # fmt: skip


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
    question: Question[Any],
    source: Any,
    decisions: pl.DataFrame,
    settings: Any,
    encoding: Any,
    *,
    moment: str | None = None,
) -> Proof:
    """Build inputs as usual, and each of them again from the source cut off at its decision.

    Features, causes, facts and frames are compared, bit by bit. Of the question `hold` a pool's log
    of 90 000 rows takes about a tenth of a second per decision and core.

    The encoding is not learned again, since it comes from the training part alone. `moment` is one
    of the question's, None: the first.
    """
    moment = question.moments(encoding)[0] if moment is None else moment
    table, inputs = question.builder(source, encoding, settings).build(decisions, moment)

    def check(row: int) -> str | None:
        again = question.again(source, table[row], encoding, settings, moment)
        if again is None:
            return "the decision is not there"
        here = inputs.take(np.array([row]))
        for place, name in enumerate(here.names):
            if here.features[:, place].tobytes() != again.features[:, place].tobytes():
                return name
        for name, column in (*here.causes.items(), *here.facts.items()):
            if column[0] != {**again.causes, **again.facts}[name][0]:
                return name
        if here.frames is not None and again.frames is not None:
            return None if here.frames.tobytes() == again.frames.tobytes() else "frames"
        return None

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        compared = enumerate(pool.map(check, range(len(table))))
        return Proof(len(table), tuple((row, what) for row, what in compared if what is not None))


SHUFFLES = 8

KINDS = 3
"""Kinds of model that are tested at most: the p-value of each counts that often (Bonferroni)."""

RANDOM_SPLITS, RANDOM_SPLITS_IF_SLOW = 5, 2
PROVED = 100
"""Examples that are built again from cut logs."""


def shuffle_batches(outcome: pl.Series, batch: Ints, seed: int) -> pl.Series:
    """The n outcomes, each batch's given to another batch: what is alike stays alike."""
    _, number, counts = np.unique(batch, return_inverse=True, return_counts=True)
    order = np.argsort(number, kind="stable")
    start = np.concatenate([[0], np.cumsum(counts)[:-1]])
    giver = np.random.default_rng(seed).permutation(len(counts))
    place = np.empty(len(batch), np.int64)
    place[order] = np.arange(len(batch)) - np.repeat(start, counts)
    taken = order[start[giver[number]] + place % counts[giver[number]]]
    return outcome.gather(taken)


def check_shuffled(it: Audited) -> Result:
    """Train on outcomes shuffled over batches: what is then learned must be worth nothing.

    Outcomes are shuffled in the decision table, within each part and in the test part too, before
    examples are built. So a way from the table's outcomes into the inputs, from one part's examples
    into another's, or from the order of the rows into the predictions shows as an AUC off one half.

    It cannot show that inputs are made of what the source itself records later: it is not
    shuffled, so what it gives away is unrelated to the shuffled outcomes. That is what
    `check_truncation` finds.
    """
    if not it.own:
        return Result(Check("shuffled_outcomes", "honesty", None, OTHER_LOGS.capitalize() + "."))
    kinds = dict.fromkeys((it.model.chosen, it.studied, "boosted"))
    kinds.pop(Mixture.name, None)  # its members are tested instead
    rows: list[dict[str, Any]] = []
    seeds = range(it.model.settings.seed + 1, it.model.settings.seed + 1 + SHUFFLES)
    for seed in seeds:
        parts: dict[str, Labelled] = {}
        for name, (table, _) in it.parts.items():
            outcome = shuffle_batches(table[it.data.target], table["batch"].to_numpy(), seed)
            shuffled = table.with_columns(outcome.alias(it.data.target))
            parts[name] = it.data.examples(shuffled)[1]
        test = parts["test"]
        for kind in (kind for kind in kinds if kind in it.model.fitted):
            try:
                predicted = fit_model(kind, it.data, parts["train"]).predict(test.inputs)
                auc = it.data.goal.ranking(predicted, test.values, test.weight)
            except TrainingError:
                auc = np.nan
            known = auc if np.isfinite(auc) else None
            rows.append({"model": kind, "seed": seed, "roc_auc": known})
    return Result(shuffle_check(rows), {"shuffled_outcomes": rows})


def shuffle_check(rows: list[dict[str, Any]]) -> Check:
    """What test ROC AUCs on shuffled outcomes show: rows with `model`, `seed`, `roc_auc`."""
    tests, words, numbers = [], [], {}
    for kind in dict.fromkeys(row["model"] for row in rows):
        known = [row["roc_auc"] for row in rows if row["model"] == kind]
        known = [auc for auc in known if auc is not None]
        if len(known) < 2:
            continue
        low, high = min(known), max(known)
        numbers[kind] = {"mean": float(np.mean(known)), "low": low, "high": high}
        # Student's t: is the mean off one half, and from which distance on would that be found?
        freedom = len(known) - 1
        error = max(float(np.std(known, ddof=1) / np.sqrt(len(known))), 1e-9)
        off = abs(float(np.mean(known)) - 0.5) / error
        gap = stats.t.isf(DOUBTFUL / (2 * KINDS), freedom) + stats.t.ppf(POWER, freedom)
        tests.append((min(1.0, 2 * KINDS * float(stats.t.sf(off, freedom))), float(gap) * error))
        words.append(f"{kind} {np.mean(known):.2f} ({low:.2f} to {high:.2f})")
    if not tests:
        detail = "No model could be trained on shuffled outcomes."
        return Check("shuffled_outcomes", "honesty", None, detail, numbers)
    grade = grade_of(min(p for p, _ in tests))
    smallest = max(gap for _, gap in tests)
    detail = (
        f"Trained on outcomes shuffled over batches, {SHUFFLES} times, test ROC AUC is "
        f"{'; '.join(words)}: "
        + ("no outcome reaches the inputs through the table of decisions. What the logs record "
           "later is for the check of truncation." if grade == "passed"
           else "off one half, as if outcomes reached the inputs through the table of decisions.")
    )  # fmt: skip
    words_of_power = power(f"a mean that is off one half by {smallest:.2f}")
    return Check("shuffled_outcomes", "honesty", grade, detail, numbers, words_of_power)


def check_split(it: Audited) -> Result:
    """Is the split one of time, and how much would a random one have flattered?"""
    if not it.own:
        return Result(Check("split", "honesty", None, OTHER_LOGS.capitalize() + "."))
    kind = it.studied
    evaluation = it.evaluation
    said = it.model.fitted[kind].model.predict(evaluation.labelled.inputs)
    auc, loss = _scored(it, said, evaluation.labelled)
    turns = range(RANDOM_SPLITS_IF_SLOW if it.slow else RANDOM_SPLITS)
    name = "forward" if it.model.question.timed else "whole groups"
    rows: list[dict[str, Any]] = [{"split": name, "roc_auc": auc, "loss": loss}]
    table, labelled = it.data.examples(it.data.known())
    group = table["group"].rank("dense").cast(pl.Int64).to_numpy()
    for name, unit in (("random groups", group), ("random rows", np.arange(len(table)))):
        scored = [_random(it, table, labelled, unit, turn) for turn in turns]
        known = [scores for scores in scored if scores is not None]
        means = map(float, np.mean(known, axis=0)) if known else (None, None)
        rows.append({"split": name, **dict(zip(("roc_auc", "loss"), means, strict=True))})
    for row in rows:
        row["flatters"] = None if row["roc_auc"] is None else row["roc_auc"] - auc
    earlier, test = (it.parts[name][0] for name in PARTS)
    shared = {
        name: len(set(test[column].to_list()) & set(earlier[column].to_list()))
        for name, column in (("groups", "group"), ("batches", "batch"))
    }
    forward = bool(earlier["known_at"].to_numpy().max() < it.data.borders[1])
    passed = forward and not any(shared.values())
    shown = "; ".join(
        f"{row['split']} {row['roc_auc']:.2f}" for row in rows if row["roc_auc"] is not None
    )
    if passed:
        words = (
            "Every outcome that taught the model was known before the test began, and no batch and "
            "no group is on both sides."
        )
    else:
        words = (
            "The split is not one of time: "
            f"{shared['groups']} groups and {shared['batches']} batches are on both sides, so the "
            "test part asks what the model has seen."
        )
    numbers = {"model": kind, "shared": shared, "forward": forward}
    compared = f"{test['batch'].n_unique()} batches and {test['group'].n_unique()} groups"
    check = Check(
        "split",
        "honesty",
        "passed" if passed else "failed",
        f"{words} Test ROC AUC of {kind} by split: {shown}.",
        numbers,
        f"All {compared} of the test part were compared: it would have found a single one.",
    )
    return Result(check, {"splits": rows})


def _random(
    it: Audited, table: pl.DataFrame, labelled: Labelled, unit: Ints, turn: int
) -> tuple[float, float] | None:
    settings = it.data.settings
    split = split_random(unit, test=settings.test_share, seed=settings.seed + turn)
    batch, parts = table["batch"].to_numpy(), []
    for name in PARTS:
        rows = split.rows(name)
        parts.append(replace(labelled.take(rows), weight=batch_weights(batch[rows])))
    earlier, test = parts
    try:
        model = fit_model(it.studied, it.data, earlier)
    except TrainingError:
        return None
    scored = _scored(it, model.predict(test.inputs), test)
    return scored if np.isfinite(scored[0]) else None


def _scored(it: Audited, predicted: Floats, rows: Labelled) -> tuple[float, float]:
    """ROC AUC and loss."""
    goal = it.data.goal
    loss = float(goal.metric(goal.loss)(predicted, rows.values, rows.weight))
    return goal.ranking(predicted, rows.values, rows.weight), loss


def check_truncation(it: Audited) -> Result:
    """Build inputs again from a source that ends at the decision: they must be equal bit by bit.

    The decisions are shared out among the moments at which models are judged.
    """
    table = it.data.table
    rows = np.unique(np.linspace(0, len(table) - 1, min(PROVED, len(table))).astype(np.int64))
    question, encoding = it.model.question, it.model.encoding
    moments = question.moments(encoding)
    moments = moments if question.each_moment else moments[:1]
    proofs = [
        prove_as_of(
            question, it.data.source, table[rows[k :: len(moments)]], it.model.settings, encoding,
            moment=moment,
        )
        for k, moment in enumerate(moments)
    ]  # fmt: skip
    differences = [difference for proof in proofs for difference in proof.differences]
    checked, differ = sum(proof.checked for proof in proofs), len(differences)
    spread = "" if len(rows) == len(table) else f", spread over all {len(table)}"
    alone = "a history that ends at the decision" if question.timed else "their own source alone"
    if differ:
        _, first = differences[0]
        detail = (
            f"{differ} of {checked} examples{spread} come out otherwise when built from "
            f"{alone}; the first difference is in {first!r}."
        )
    else:
        detail = (
            f"{checked} examples{spread} were built again from {alone}: all are the same, "
            "bit by bit."
        )
    least = 1 if len(rows) == len(table) else (1.0 - POWER) ** (1.0 / max(len(rows), 1))
    share = 1.0 - least
    fault = "a single one that differs" if not share else f"a fault that {share:.1%} of them have"
    numbers = {
        "compared": checked,
        "different": differ,
        "examples": len(table),
        "detectable": share,
    }
    counts = Counter(what for _, what in differences)
    listed = [{"what": what, "examples": count} for what, count in counts.items()]
    grade: Grade = "failed" if differ else "passed"
    check = Check("truncation", "honesty", grade, detail, numbers, power(fault))
    return Result(check, {"truncation": listed})
