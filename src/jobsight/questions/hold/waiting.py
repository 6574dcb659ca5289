"""Was it right to wait? Judged on outages that ended, as the log alone shows them.

A *place* is the transfer origin that a hold's reason names, else the site. A *spell* is a run of
failed releases of one cause at one place, in order of time, from at least two batches, no two of
them farther apart than the spell's reach, and followed within that reach by a release of the same
cause and place that succeeded. The reach is three times the longest wait that the model may
propose. In a spell releasing at once failed, by definition; what waiting h would have got is the
share of success among the releases of the same cause and place made between h and 2 · h later, by
whomever, batches counting alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.history.reasons import origins
from jobsight.learning import metrics
from jobsight.learning.audit.checks import Audited, Check, Result, grade_of, power, worse
from jobsight.learning.bootstrap import Bootstrap
from jobsight.learning.costs import expected_gain
from jobsight.learning.dataset import batch_weights
from jobsight.models.base import Floats, Ints
from jobsight.questions.hold.answering.predictor import delays_of
from jobsight.questions.hold.answering.verdict import hourly_delay_cost
from jobsight.questions.hold.examples.builder import ExampleBuilder
from jobsight.questions.hold.examples.decisions import CAUSE

__all__ = ["check_waiting", "find_spells", "later_success"]

REACH = 3.0
LEAST_DECISIONS = 10
LEAST_BATCHES = 2
_MICRO = 1_000_000


def find_spells(decisions: pl.DataFrame, reach: float) -> tuple[NDArray[np.int64], pl.DataFrame]:
    """The spells among released jobs with known outcomes.

    Args:
        decisions: n rows of a decision table; those without outcome are in no spell.
        reach: seconds.

    Returns:
        int64 (n,): number of each decision's spell, −1 for none; and a table of the spells:
        `cause`, `place`, `first` and `last` failed release, `ended` (the success after it; µs),
        `releases`, `batches`.
    """
    runs = _runs(decisions, reach)
    spells = (
        runs.filter(~pl.col("outcome"))
        .group_by("cause", "place", "run")
        .agg(
            first=pl.col("released").min(),
            last=pl.col("released").max(),
            ended=pl.col("following").last(),
            releases=pl.len(),
            batches=pl.col("batch").n_unique(),
            rows=pl.col("index"),
        )
        .filter(
            pl.col("batches") >= LEAST_BATCHES,
            pl.col("ended") - pl.col("last") <= round(reach * _MICRO),
        )
        .sort("first", "cause", "place")
    )
    number = np.full(len(decisions), -1, np.int64)
    for spell, rows in enumerate(spells["rows"].to_list()):
        number[rows] = spell
    return number, spells.select("cause", "place", "first", "last", "ended", "releases", "batches")


def _runs(decisions: pl.DataFrame, reach: float) -> pl.DataFrame:
    """Releases with known outcomes, numbered by runs of one outcome; and the release after each."""
    keyed = _keyed(decisions).filter(pl.col("outcome").is_not_null()).sort("released", "index")
    apart = pl.col("released").diff().over("cause", "place") > round(reach * _MICRO)
    turned = pl.col("outcome") != pl.col("outcome").shift().over("cause", "place")
    begins = (apart | turned).fill_null(value=True)
    return keyed.with_columns(run=begins.cum_sum().over("cause", "place")).with_columns(
        following=pl.col("released").shift(-1).over("cause", "place"),
    )


def _keyed(decisions: pl.DataFrame) -> pl.DataFrame:
    return decisions.select(
        cause=CAUSE,
        place=pl.Series(origins(decisions["reason"])).fill_null(
            pl.format("site {}", decisions["site"].fill_null("unknown"))
        ),
        outcome="outcome",
        released="released",
        batch="batch",
    ).with_row_index("index")


@dataclass(frozen=True)
class _Asked:
    """p(h) of decisions in spells, and what releases made then got.

    Attributes:
        waits: seconds, 0 first.
        gain: float64 (n, waits), expected from the model; −inf where it does not surely beat a
            release at once (see `jobsight.questions.hold.answering.verdict`).
        got: float64 (n, waits), share of success; 0 at once, NaN where none was released then.
        realized: float64 (n, waits), the gain with what was got.
    """

    waits: tuple[float, ...]
    gain: Floats
    got: Floats
    realized: Floats


def check_waiting(it: Audited) -> Result:
    """Compare "wait h" with releasing at once, for the decisions made during spells."""
    aucs = _delay_aucs(it)
    waits = tuple(delays_of(it.model))
    if not waits:
        detail = "The model proposes no waits: too few training batches support one."
        return Result(Check("wait", "quality", None, detail))
    known = it.data.table.filter(~pl.col("edited"))
    number, spells = find_spells(known, REACH * max(waits))
    judged = set(it.evaluation.table["row"].to_list())
    inside = (number >= 0) & known["row"].is_in(sorted(judged)).to_numpy()
    moments = pl.col("first", "last", "ended").cast(pl.Datetime("us", "UTC")).dt.to_string("iso")
    shown = spells.with_columns(moments).to_dicts()
    tables = {"spells": shown, "delays": aucs}
    asked = _ask(it, known, inside)
    decided = np.asarray(np.isfinite(asked.got[:, 1:]).any(axis=1))
    numbers = {"spells": len(spells), "decisions": int(inside.sum()), "known": int(decided.sum())}
    if decided.sum() < LEAST_DECISIONS:
        detail = (
            f"{len(spells)} outages ended; of {inside.sum()} test decisions made during them, for "
            f"{decided.sum()} it is known what waiting would have got: too few to judge "
            f"({LEAST_DECISIONS} are needed)."
        )
        return Result(Check("wait", "quality", None, detail, numbers), tables)
    batch = known["batch"].to_numpy()[inside][decided]
    return Result(_wait_check(it, asked, decided, batch, numbers), tables)


def _ask(it: Audited, known: pl.DataFrame, inside: NDArray[np.bool_]) -> _Asked:
    costs = it.model.settings.costs
    per_hour = hourly_delay_cost(costs, it.model.encoding.time_scale)
    waits = (0.0, *delays_of(it.model))
    rows = known.filter(pl.Series(inside))
    # In a spell a release at once failed; later ones count where their outcome is known.
    resolved = known.filter(pl.col("outcome").is_not_null())
    got = later_success(resolved, rows["row"].to_numpy(), waits)[:, :, 0]
    got[:, 0] = 0.0
    builder = ExampleBuilder.of(it.data.source, it.model.settings, it.model.encoding)
    gain, realized = np.zeros_like(got), np.zeros_like(got)
    models = [it.model.answering, *delays_of(it.model).values()]
    for k, (wait, fitted) in enumerate(zip(waits, models, strict=True)):
        gained = partial(
            expected_gain, costs=costs, delay_hours=wait / 3600, delay_per_hour=per_hour
        )
        probability = fitted.predict(builder.inputs(rows, wait))
        low, high = fitted.bounds(probability)
        if not k:
            most = gained(high)
        gain[:, k] = np.where((k == 0) | (gained(low) > most), gained(probability), -np.inf)
        realized[:, k] = gained(got[:, k])
    return _Asked(waits, gain, got, realized)


def later_success(
    releases: pl.DataFrame, rows: Ints, waits: tuple[float, ...]
) -> NDArray[np.float64]:
    """Share of success of the like releases made between each wait and twice as long later.

    Args:
        releases: rows of a decision table.
        rows: int64 (n,), `row` of those asked about.
        waits: seconds.

    Returns:
        float64 (n, waits, 2), batches counting alike: with unknown outcomes as failures, and as
        successes; NaN where none was released then.
    """
    keyed = _keyed(releases).with_columns(
        key=pl.struct("cause", "place").rank("dense"), row=releases["row"]
    )
    keyed = keyed.sort("key", "released", "index")
    key, released, batch = (keyed[name].to_numpy() for name in ("key", "released", "batch"))
    bounds = [keyed["outcome"].fill_null(value=unknown).to_numpy() for unknown in (False, True)]
    outcome = np.stack(bounds, axis=1).astype(np.float64)
    share = np.full((len(rows), len(waits), 2), np.nan)
    place_of = {row: place for place, row in enumerate(keyed["row"].to_list())}
    for number, place in enumerate(place_of[row] for row in rows.tolist()):
        first, last = np.searchsorted(key, [key[place], key[place] + 1])
        for k, wait in enumerate(waits):
            since, until = released[place] + np.array([1, 2]) * round(wait * _MICRO)
            start = first + np.searchsorted(released[first:last], since)
            stop = first + np.searchsorted(released[first:last], until, side="right")
            if start < stop:
                weight = batch_weights(batch[start:stop])
                share[number, k] = np.average(outcome[start:stop], axis=0, weights=weight)
    return share


def _wait_check(
    it: Audited, asked: _Asked, decided: NDArray[np.bool_], batch: Ints, numbers: dict[str, Any]
) -> Check:
    gain, got, realized = asked.gain[decided], asked.got[decided], asked.realized[decided]
    weight = batch_weights(batch)
    # Of what the model would choose from, only waits whose result is known can be judged.
    gain = np.where(np.isfinite(got), gain, -np.inf)
    choice = np.argmax(gain, axis=1)
    each = np.arange(len(choice))
    waited = choice > 0
    right = waited & (realized[each, choice] > realized[:, 0])
    share = float(weight[right].sum() / weight[waited].sum()) if waited.any() else None
    with np.errstate(invalid="ignore"):
        possible = np.nanmax(got[:, 1:], axis=1) > 0.5
    numbers = numbers | {
        "batches": float(weight.sum()),
        "waited": float(weight[waited].sum()),
        "right": share,
        "waiting_could_help": float(weight[possible].sum() / weight.sum()),
        "gain_of_advice": float(np.average(realized[each, choice], weights=weight)),
        "gain_at_once": float(np.average(realized[:, 0], weights=weight)),
    }
    settings = it.model.settings
    bootstrap = Bootstrap(
        np.ones(len(batch), np.bool_), weight, batch, settings.bootstrap, settings.seed
    )
    loss = realized[:, 0] - realized[each, choice]
    compared = worse(bootstrap.interval(metrics.mean, loss)) if waited.any() else None
    detail = (
        f"{numbers['spells']} outages ended. Of {len(choice)} test decisions "
        f"({weight.sum():.0f} batches) made during them, the model prefers a later release to one "
        f"now for {numbers['waited']:.0f}"
        + ("" if share is None else f", and later ones did fare better for {share:.0%} of these")
        + f". Per decision its choice gained {numbers['gain_of_advice']:+.2f} wasted runs, "
        f"releasing at once {numbers['gain_at_once']:+.2f}."
    )
    if compared is None:
        return Check("wait", "quality", None, detail, numbers)
    p_value, found = compared
    numbers |= {"p_value": p_value, "detectable": found}
    fault = power(f"a choice that costs {found:.2f} wasted runs more than releasing at once")
    return Check("wait", "quality", grade_of(p_value), detail, numbers, fault)


def _delay_aucs(it: Audited) -> list[dict[str, Any]]:
    """How well each delay's model distinguishes releases that long before they happen."""
    rows = []
    for delay, fitted in delays_of(it.model).items():
        _, labelled = it.data.labelled(it.reach, moment=str(delay))
        predicted = fitted.predict(labelled.inputs)
        auc = float(metrics.roc_auc(predicted, labelled.success, labelled.weight))
        rows.append(
            {
                "delay": delay,
                "examples": len(labelled),
                "batches": float(labelled.weight.sum()),
                "roc_auc": auc if np.isfinite(auc) else None,
            }
        )
    return rows
