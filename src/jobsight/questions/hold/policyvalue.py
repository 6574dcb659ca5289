"""The value of following the answers, and of waiting: what each would have got by the log.

Each decision is a release that was made, so a release at once got what it got. Everything else is
valued by what like releases got, from the whole log, and has bounds where these leave it open:

- ``wait h``: the share of success of releases of the same cause and place made between h and 2 · h
  later, by whomever, batches counting alike; 0 to 1 if there were none;
- ``fix``: the share of success of edited jobs with the same cause; 0 to 1 if there were none;
- ``remove``, ``unsure``, and what a threshold or a rule does not release: nothing is run, and a job
  that would have succeeded is lost, as the costs of the settings have it;
- a release without outcome: 0 to 1.

The gain of a decision is finished · l − wasted · w − delay · its cost, in the units of the settings
(`jobsight.questions.hold.answering.verdict`); releasing nothing gains 0. A wasted run takes as long
as it took, where it was made, else as failed runs of its cause took on average.

Was it right to wait? That is judged on outages that ended. A *place* is the transfer origin that a
hold's reason names, else the site. A *spell* is a run of failed releases of one cause at one place,
in order of time, from at least two batches, no two of them farther apart than the spell's reach,
and followed within that reach by a release of the same cause and place that succeeded. The reach is
three times the longest wait that the model may propose. In a spell releasing at once failed, by
definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.clock import micros, parse_moment, zone_named
from jobsight.codes import EventCode
from jobsight.errors import SourceError
from jobsight.history.counts import at, preceding
from jobsight.history.reasons import origins
from jobsight.history.timelines import History
from jobsight.learning import metrics
from jobsight.learning.audit.checks import Audited, Check, Result, grade_of, power, worse
from jobsight.learning.bootstrap import Bootstrap
from jobsight.learning.costs import ALWAYS, expected_gain, release_threshold
from jobsight.learning.dataset import Dataset, batch_weights
from jobsight.learning.modeldir import ModelDir
from jobsight.models import is_baseline
from jobsight.models.base import Floats, Ints
from jobsight.models.rules import Rules
from jobsight.questions.hold.answering.answer import Answerer
from jobsight.questions.hold.answering.chances import delays_of
from jobsight.questions.hold.answering.verdict import hourly_delay_cost
from jobsight.questions.hold.examples.builder import ExampleBuilder
from jobsight.questions.hold.examples.decisions import CAUSE, HeldHistory
from jobsight.settings import Costs

__all__ = ["ANSWERS", "HINDSIGHT", "PLANTED", "check_waiting", "find_spells", "score_answers"]

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
    # Releases with known outcomes, by runs of one outcome; and the release after each.
    keyed = _keyed(decisions).filter(pl.col("outcome").is_not_null()).sort("released", "index")
    of = ("cause", "place")
    apart = pl.col("released").diff().over(of) > round(reach * _MICRO)
    begins = (apart | (pl.col("outcome") != pl.col("outcome").shift().over(of))).fill_null(True)
    runs = keyed.with_columns(
        run=begins.cum_sum().over(of), following=pl.col("released").shift(-1).over(of)
    )
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
    # How well each delay's model distinguishes releases that long before they happen.
    aucs = []
    for delay, fitted in delays_of(it.model).items():
        _, labelled = it.data.labelled(it.reach, moment=str(delay))
        predicted = fitted.predict(labelled.inputs)
        auc = float(metrics.roc_auc(predicted, labelled.success, labelled.weight))
        batches, shown = float(labelled.weight.sum()), auc if np.isfinite(auc) else None
        aucs.append(
            {"delay": delay, "examples": len(labelled), "batches": batches, "roc_auc": shown}
        )
    waits = tuple(delays_of(it.model))
    if not waits:
        detail = "The model proposes no waits: too few training batches support one."
        return Result(Check("wait", "quality", None, detail))
    known = it.data.table.filter(~pl.col("edited"))
    number, spells = find_spells(known, REACH * max(waits))
    judged = set(it.evaluation.table["row"].to_list())
    inside = (number >= 0) & known["row"].is_in(sorted(judged)).to_numpy()
    moments = pl.col("first", "last", "ended").cast(pl.Datetime("us", "UTC")).dt.to_string("iso")
    tables = {"spells": spells.with_columns(moments).to_dicts(), "delays": aucs}
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
    got = _later_success(resolved, rows["row"].to_numpy(), waits)[:, :, 0]
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


def _later_success(
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
    p_value, cost = compared
    numbers |= {"p_value": p_value, "detectable": cost}
    fault = power(f"a choice that costs {cost:.2f} wasted runs more than releasing at once")
    return Check("wait", "quality", grade_of(p_value), detail, numbers, fault)


ANSWERS, HINDSIGHT, PLANTED = "answers", "hindsight", "planted"
"""What `score_answers` calls the answers; releasing just what succeeds; and what the planted chance
of success says."""
_MEASURES = ("finished", "wasted", "wasted_seconds", "lost", "delay_seconds", "gain")
BLOCKS = 20
"""Spans of equal length that time is resampled by."""
_NEAR = 5 * _MICRO
"""A planted release and that of the log are the same if they are no farther apart."""
_TRUTH = {"start": pl.String, "job": pl.String, "release": pl.Float64, "p": pl.Float64}

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class _Policy:
    """What is answered at n decisions: verbs, str (n,), and seconds to wait, float64 (n,)."""

    verbs: NDArray[np.str_]
    waits: Floats

    @classmethod
    def of(cls, released: Bools) -> _Policy:
        """Release these, leave the others."""
        return cls(np.where(released, "release", "remove"), np.zeros(len(released)))


@dataclass(frozen=True)
class _Facts:
    """What n decisions could get.

    Attributes:
        success: float64 (n,), of a release at once; NaN where unknown.
        fixed: float64 (n, 2), bounds of the share of success after a fix.
        seconds: float64 (n,), that a wasted run takes.
        costs: the settings.
        per_second: cost of a second's delay.
    """

    success: Floats
    fixed: Floats
    seconds: Floats
    costs: Costs
    per_second: float

    def scored(self, policy: _Policy, later: Floats, unknown: float) -> dict[str, Floats]:
        """Bounds of each measure, float64 (2, n), if all unknown releases had this success.

        `later`: float64 (n, 2), bounds of the share of success of what waits.
        """
        y = np.where(np.isnan(self.success), unknown, self.success)
        release, wait, fix = (policy.verbs == verb for verb in ("release", "wait", "fix"))
        ran = release | wait | fix
        got = np.stack(
            [np.select([release, wait, fix], [y, later[:, k], self.fixed[:, k]]) for k in (0, 1)]
        )
        wasted = ran * (1 - got)
        delay = wait * policy.waits
        gain = got * self.costs.lost_job - wasted * self.costs.wasted_run
        return {
            "finished": got,
            "wasted": wasted[::-1],
            "wasted_seconds": wasted[::-1] * self.seconds,
            "lost": np.stack([~ran * y] * 2),
            "delay_seconds": np.stack([delay] * 2),
            "gain": gain - delay * self.per_second,
        }


def score_answers(
    model: ModelDir, data: Dataset, rows: Bools, truth: Path | None
) -> dict[str, Any] | None:
    """Score the answers to the decisions among `rows`, of jobs released as they were.

    Args:
        model: that answers; its baselines are compared.
        data: read with its encoding.
        rows: bool, of `data.table`.
        truth: JSON lines of what was planted, with ``start``, and ``job``, ``release`` (seconds
            since it) and ``p`` of releases; None: there is none.

    Returns:
        ``decisions``, ``unknown`` (without outcome), ``chosen``; ``waits``; and under ``by_batch``
        and ``by_job``, whose members weigh 1 together, by policy: share of each answer (``verbs``),
        and bounds of the mean of each of `_MEASURES`, with 95 % intervals by batch and by block of
        time; ``ahead``, the gain of the answers less that of the policy. None without decisions.

    Raises:
        SourceError: the truth cannot be read, or has no such releases.
    """
    # Outcomes after the horizon, or near the end, show what an answer was worth all the same.
    kept = data.decisions.table.filter("kept")
    table = kept.filter(pl.Series(rows), ~pl.col("edited"))
    if not len(table):
        return None
    per_second = hourly_delay_cost(model.settings.costs, model.encoding.time_scale) / 3600
    success = table["outcome"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    facts = _Facts(
        success, _fixed(kept, table), _seconds(data.source, table), model.settings.costs, per_second
    )
    policies = _policies(model, data, table, success)
    if truth is not None:
        chance = _planted(truth, table)
        policies[PLANTED] = _Policy.of(chance >= release_threshold(model.settings.costs))
    waits = policies[ANSWERS].waits
    places = {wait: k for k, wait in enumerate(sorted({*waits.tolist()}))}
    shares = _later_success(kept.filter(~pl.col("edited")), table["row"].to_numpy(), tuple(places))
    own = shares[np.arange(len(table)), [places[wait] for wait in waits]]
    later = np.where(np.isnan(own), [0.0, 1.0], own)
    scored = {
        name: [facts.scored(policy, later, unknown) for unknown in (0.0, 1.0)]
        for name, policy in policies.items()
    }
    jobs = table["job"].to_numpy()
    block = table["released"].to_numpy() - table["released"].min()
    block = block * BLOCKS // (int(block.max()) + 1)
    each = {"by_batch": batch_weights(table["batch"].to_numpy()), "by_job": batch_weights(jobs)}
    draws, seed = model.settings.bootstrap, model.settings.seed
    return {
        "decisions": len(table),
        "unknown": int(np.isnan(success).sum()),
        "chosen": model.chosen,
        "waits": _waits(policies[ANSWERS], facts, later, each["by_batch"]),
    } | {
        name: _means(
            policies,
            scored,
            [
                Bootstrap(success, weight, together.astype(np.int64), draws, seed)
                for together in (table["batch"].to_numpy(), block)
            ],
        )
        for name, weight in each.items()
    }


def _policies(
    model: ModelDir, data: Dataset, table: pl.DataFrame, success: Floats
) -> dict[str, _Policy]:
    """The answers, and what baselines would do."""
    verdicts = Answerer(HeldHistory(data.source), model.settings, model).verdicts(table)
    waits = [v.best.wait if v.verb == "wait" and v.best else 0.0 for v in verdicts]
    policies = {
        ANSWERS: _Policy(np.array([verdict.verb for verdict in verdicts]), np.array(waits)),
        ALWAYS: _Policy.of(np.ones(len(table), np.bool_)),
    }
    threshold = release_threshold(model.settings.costs)
    inputs = data.builder.build(table, data.question.moments(model.encoding)[0])[1]
    for name, fitted in model.fitted.items():
        if isinstance(fitted.model, Rules):
            policies[name] = _Policy.of(fitted.model.releases(inputs))
        elif is_baseline(name):
            policies[name] = _Policy.of(fitted.predict(inputs) >= threshold)
    # An unknown outcome is not known in hindsight either: left, it gains nothing, whatever it was.
    return policies | {HINDSIGHT: _Policy.of(success == 1.0)}


def _fixed(kept: pl.DataFrame, table: pl.DataFrame) -> Floats:
    """Share of success of edited jobs by cause, twice, else 0 and 1: float64 (n, 2)."""
    cause = ["hold_code", "hold_subcode", "masked"]
    edited = kept.filter("edited", pl.col("outcome").is_not_null())
    of_batch = edited.group_by(*cause, "batch").agg(pl.col("outcome").mean())
    share = of_batch.group_by(cause).agg(pl.col("outcome").mean().alias("share"))
    own = table.select(cause).join(
        share, on=cause, how="left", nulls_equal=True, maintain_order="left"
    )["share"]
    return np.stack([own.fill_null(bound).to_numpy() for bound in (0.0, 1.0)], axis=1)


def _seconds(history: History, table: pl.DataFrame) -> Floats:
    """How long a wasted run took, or would have taken: float64 (n,)."""
    starts = np.flatnonzero((history.code == EventCode.EXECUTE) & (history.job >= 0))
    ended = table["resolved_row"].fill_null(0).to_numpy()
    started = at(starts, preceding(history, starts, ended))
    ran = started > table["row"].to_numpy()
    took = np.where(ran, history.clock[ended] - history.clock[np.maximum(started, 0)], 0)
    own = pl.when(pl.col("outcome") == pl.lit(value=False)).then("took")
    cause = ("hold_code", "hold_subcode", "masked")
    seconds = table.with_columns(took=pl.Series(took) / _MICRO).select(
        pl.coalesce(own, own.mean().over(cause), own.mean(), pl.lit(0.0))
    )
    return seconds.to_series().to_numpy()


def _planted(truth: Path, table: pl.DataFrame) -> Floats:
    """The planted chance of each release: float64 (n,), NaN where the truth has none of it."""
    try:
        lines = pl.read_ndjson(truth, schema=_TRUTH)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise SourceError(f"cannot read {truth}: {str(error).splitlines()[0]}") from None
    known = lines.drop_nulls(["job", "release", "p"])
    begun = lines["start"].drop_nulls()
    if not len(known) or not len(begun):
        raise SourceError(
            f"{truth} has no planted chances; lines with start, and with job, release and p of "
            "releases are needed"
        )
    start = micros(parse_moment(begun[0], zone_named("UTC")))
    planted = known.select(
        "p", name="job", moment=(pl.col("release") * _MICRO).round().cast(pl.Int64) + start
    ).sort("moment")
    asked = table.select(name=pl.format("{}.{}", "cluster", "proc"), moment="released")
    nearest = asked.with_row_index().sort("moment").join_asof(
        planted, on="moment", by="name", strategy="nearest", tolerance=_NEAR, check_sortedness=False
    )  # fmt: skip
    return nearest.sort("index")["p"].fill_null(float("nan")).to_numpy()


def _waits(answers: _Policy, facts: _Facts, later: Floats, weight: Floats) -> dict[str, Any]:
    """Share of decisions advised to wait; of these, those right to wait, and those that succeed.

    Both of waits whose worth is known: like releases were made then, and the outcome is known.
    """
    waited = answers.verbs == "wait"
    known = waited & (later[:, 0] == later[:, 1]) & np.isfinite(facts.success)
    gain = expected_gain(later[:, 0], facts.costs) - answers.waits * facts.per_second
    right = gain > expected_gain(facts.success, facts.costs)
    share = {"right": right, "sent_away": facts.success == 1.0}
    return {
        "advised": float(weight[waited].sum() / weight.sum()),
        "known": float(weight[known].sum() / weight.sum()),
    } | {
        name: float(np.average(rows[known], weights=weight[known])) if known.any() else None
        for name, rows in share.items()
    }


def _means(
    policies: Mapping[str, _Policy],
    scored: Mapping[str, list[dict[str, Floats]]],
    draws: list[Bootstrap],
) -> dict[str, Any]:
    """By policy: shares of its answers, and `_MEASURES` and ``ahead`` as `score_answers` says."""
    columns: dict[str, Floats] = {}
    for name, cases in scored.items():
        columns |= {f"{name} {of}": _bounds([case[of] for case in cases]) for of in _MEASURES}
        pairs = zip(scored[ANSWERS], cases, strict=True)
        ahead = [own["gain"] - other["gain"][::-1] for own, other in pairs]
        columns[f"{name} ahead"] = _bounds(ahead)
    flat = {f"{name} {k}": column[k] for name, column in columns.items() for k in (0, 1)}
    batches, blocks = (draw.intervals(metrics.mean, flat) for draw in draws)
    means: dict[str, Any] = {}
    for name, policy in policies.items():
        verbs, weight = np.unique(policy.verbs), draws[0].weight
        shares = {str(v): float(weight[policy.verbs == v].sum() / weight.sum()) for v in verbs}
        means[name] = {"verbs": shares}
        for measure in (*_MEASURES, *(("ahead",) if name != ANSWERS else ())):
            low, high = (f"{name} {measure} {k}" for k in (0, 1))
            means[name][measure] = {
                "low": batches[low].value,
                "high": batches[high].value,
                "interval": [batches[low].low, batches[high].high],
                "interval_by_time": [blocks[low].low, blocks[high].high],
            }
    return means


def _bounds(cases: list[Floats]) -> Floats:
    """The least and the most of several bounds, float64 (2, n) each: likewise."""
    both = np.stack(cases)
    return np.stack([both[:, 0].min(axis=0), both[:, 1].max(axis=0)])
