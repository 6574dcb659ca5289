"""The mixture: its arithmetic, what it learns and when, how it is kept."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import failing
from tests.unit.models.quantiles import spread

from jobsight.errors import ModelError, TrainingError
from jobsight.learning.dataset import Dataset
from jobsight.learning.mixture import (
    ETA,
    FIRST_ETA,
    FOREVER,
    REFIT,
    SHARE,
    USUAL,
    Mixture,
    Times,
    Weights,
    mix,
    predicted_in_time,
)
from jobsight.learning.modeldir import Fitted, ModelDir
from jobsight.learning.targets import QuantilesCalibrated
from jobsight.models.base import Floats, Labelled
from jobsight.models.constant import Constant
from jobsight.models.forests import BoostedColumns
from jobsight.questions.fail.question import FAIL


def plain(
    said: list[list[float]],
    rows: list[tuple[bool, float, int, int]],
    weights: list[float],
    until: int,
) -> tuple[list[float], list[float], list[float]]:
    """The formulas of the module, row by row: outcomes known before a decision, oldest first."""
    members, answers = range(len(weights)), []
    usual, seen = weights, USUAL
    left = sorted(range(len(rows)), key=lambda one: rows[one][3])
    for row in range(len(rows) + 1):
        now = rows[row][2] if row < len(rows) else until
        while left and rows[left[0]][3] < now:
            one = left.pop(0)
            true, weight = rows[one][:2]
            right = [said[one][k] if true else 1.0 - said[one][k] for k in members]
            eta = max(ETA, min(1.0, math.sqrt(FIRST_ETA / (seen + weight))))
            raised = [weights[k] * right[k] ** (eta * weight) for k in members]
            weights = [
                (1 - SHARE) * w / sum(raised) + SHARE * u
                for w, u in zip(raised, usual, strict=True)
            ]
            seen += weight
            usual = [u + weight / seen * (w - u) for w, u in zip(weights, usual, strict=True)]
        if row < len(rows):
            odds = sum(w * math.log(p / (1 - p)) for w, p in zip(weights, said[row], strict=True))
            answers.append(1 / (1 + math.exp(-odds)))
    return answers, weights, usual


ROW = st.tuples(st.booleans(), st.sampled_from([0.25, 1.0]), st.integers(0, 20), st.integers(0, 12))


@given(st.lists(ROW, max_size=25), st.integers(1, 4), st.integers(0, 40), st.integers(0, 999))
def test_the_kernel_is_the_formula(
    rows: list[tuple[bool, float, int, int]], members: int, until: int, seed: int
) -> None:
    rows = sorted((v, w, t, t + wait) for v, w, t, wait in rows)
    rows.sort(key=lambda row: row[2])
    random = np.random.default_rng(seed)
    said = random.uniform(0.01, 0.99, (len(rows), members))
    weights = random.dirichlet(np.ones(members))
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    times = Times(
        np.array(columns[0], np.bool_), np.array(columns[1], np.float64),
        np.array(columns[2], np.int64), np.array(columns[3], np.int64),
        np.zeros(len(rows), np.int64),
    )  # fmt: skip
    mixed, after = mix(said, times, Weights(weights, weights, USUAL), until)
    wanted, left, usual = plain(said.tolist(), rows, weights.tolist(), until)
    assert mixed == pytest.approx(wanted)
    assert after.now == pytest.approx(left)
    assert after.usual == pytest.approx(usual)
    assert after.now.sum() == pytest.approx(1.0) == after.usual.sum()


@pytest.mark.parametrize("levels", [(), (0.1, 0.5, 0.9)])
def test_few_rows_are_mixed_to_the_same_bits_as_many(
    levels: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(1)
    shape = (300, 5, len(levels)) if levels else (300, 5)
    values = random.random(300) if levels else random.random(300) < 0.7
    even = random.dirichlet(np.ones(5))
    first = Weights(even, even, USUAL, np.zeros(len(levels)))

    def mixed() -> list[bytes]:
        said = np.random.default_rng(2).uniform(0.01, 0.99, shape)
        found, after = mix(said, times_of(values, 25), first, levels=levels)
        return [one.tobytes() for one in (found, after.now, after.usual, after.offsets)]

    few = mixed()
    monkeypatch.setattr("jobsight.learning.mixture._FEW", 0)
    assert mixed() == few


EVEN = Weights(np.full(2, 0.5), np.full(2, 0.5), USUAL)


def times_of(values: Any, wait: int, together: int = 1) -> Times:
    """Decisions 10 µs apart, so many of them drawn together, each known so long after it."""
    at = np.arange(len(values), dtype=np.int64)
    nth = at % together
    return Times(np.asarray(values), np.ones(len(values)), at * 10, at * 10 + wait, nth)


def test_weights_follow_the_best_member_and_change_sides() -> None:
    random = np.random.default_rng(0)
    values = random.random(1200) < 0.5
    first, second = np.where(values, 0.8, 0.2), np.full(1200, 0.5)
    said = np.stack([first, second], axis=1)
    said[600:] = said[600:, ::-1]  # from here on the other one knows
    mixed, after = mix(said, times_of(values, 1), EVEN)
    _, half = mix(said[:600], times_of(values[:600], 1), EVEN)
    assert half.now[0] > 0.9 and after.now[1] > 0.75
    late = [
        np.abs(mixed[part] - values[part]).mean() for part in (slice(500, 600), slice(1100, 1200))
    ]
    assert max(late) < 0.3  # nearly what the member that knows is off


def test_an_outcome_known_later_teaches_later() -> None:
    values = np.ones(50, np.bool_)
    said = np.stack([np.full(50, 0.9), np.full(50, 0.1)], axis=1)
    soon, _ = mix(said, times_of(values, 1), EVEN)
    late, _ = mix(said, times_of(values, 100), EVEN)
    never, weights = mix(said, times_of(values, FOREVER // 2), EVEN, until=10**6)
    assert soon[0] == late[0] == pytest.approx(0.5) and soon[1] > 0.5
    assert (late[:11] == late[0]).all() and late[11] > 0.5  # known at 100, asked at 110
    assert np.array_equal(late[11:], soon[1:40])
    assert never == pytest.approx(np.full(50, 0.5)) and weights.now.tolist() == [0.5, 0.5]


LEVELS = (0.1, 0.5, 0.9)


def quantile_members(random: np.random.Generator, rows: int) -> tuple[Floats, Floats]:
    """Outcomes, and what two members say: one is right, one too low; neither is wide enough."""
    values = random.normal(5.0, 1.0, rows)
    levels = 5.0 + np.array([-0.3, 0.0, 0.3])
    return values, np.broadcast_to(np.stack([levels, levels - 3.0]), (rows, 2, 3)).copy()


def test_quantiles_follow_the_best_member_and_come_to_hold_what_they_promise() -> None:
    values, said = quantile_members(np.random.default_rng(0), 60_000)
    first = Weights.first(2, 400, 3)
    mixed, after = mix(said, times_of(values, 1), first, levels=LEVELS)
    assert after.now[0] > 0.9
    late = mixed[45_000:]
    held = (values[45_000:, None] <= late).mean(axis=0)
    assert held == pytest.approx(LEVELS, abs=0.03)
    assert (np.diff(mixed, axis=1) >= 0).all()
    assert mixed[0] == pytest.approx(first.mean(said[:1])[0])
    assert after.mean(said[-1:])[0] == pytest.approx(mixed[-1], abs=0.01)


def test_an_array_moves_quantiles_less_than_as_many_jobs_of_others() -> None:
    said = np.broadcast_to(np.array([4.0, 5.0, 6.0]), (400, 2, 3)).copy()
    first = Weights.first(2, 400, 3)
    moved = [
        mix(said, times_of(np.full(400, 9.0), 1, together), first, levels=LEVELS)[1].offsets[2]
        for together in (1, 400)
    ]
    assert 0.0 < 1.5 * moved[1] < moved[0]


def test_quantiles_rest_on_outcomes_known_before() -> None:
    values, said = quantile_members(np.random.default_rng(1), 300)
    times = times_of(values, 500)
    whole, _ = mix(said, times, Weights.first(2, 400, 3), levels=LEVELS)
    other = times._replace(values=np.where(times.known_at < 2000, values, 99.0))
    cut, _ = mix(said, other, Weights.first(2, 400, 3), levels=LEVELS)
    assert np.array_equal(whole[:200], cut[:200]) and not np.array_equal(whole, cut)


def test_members_of_quantiles_answer_calibrated() -> None:
    """Else a good member with levels too close together loses its weight to bad ones with wide."""
    rows = spread(600)
    members = {}
    for name, offset in (("boosted", 0.5), ("constant", 0.0)):
        model = BoostedColumns() if name == "boosted" else Constant()
        model.fit(rows, seed=0)
        members[name] = Fitted(model, QuantilesCalibrated(offset), 600)
    made = Mixture.of(members, {"boosted": 0.1, "constant": 0.2}, 0, 3)
    raw = members["boosted"].model.predict(rows.inputs)
    said = made.each(rows.inputs)
    assert said[:, 0] == pytest.approx(raw + np.array([-0.5, 0.0, 0.5]))
    assert made.best == "boosted" and made.weights.now == pytest.approx([0.23, 0.23, 0.54])
    assert np.array_equal(said[:, 0], said[:, 2])  # as the one that is fitted anew begins


# On jobs.


def mixture() -> Mixture:
    model = failing.trained().model.fitted["mixture"].model
    assert isinstance(model, Mixture)
    return model


def started() -> tuple[Mixture, int]:
    """A mixture before any play, at the middle of the history, as if it had been made there."""
    members = failing.trained().model.fitted
    single = {name: one for name, one in members.items() if name != "mixture"}
    table = failing.dataset().table
    border = int(table["decided"][len(table) // 2])
    known = len(table.filter(pl.col("known_at") < border))
    return replace(Mixture.of(single, dict.fromkeys(single, 0.5), border), taught=known), border


@pytest.mark.parametrize("moment", [None, "start"])
@pytest.mark.parametrize("share", [0.75, 0.9])
def test_what_comes_later_changes_no_earlier_prediction(share: float, moment: str | None) -> None:
    made, since = started()
    data = failing.dataset()
    whole = made.play(data, since, FOREVER, moment)
    end = int(np.quantile(data.table["decided"].to_numpy(), share))
    known = pl.when(pl.col("known_at") < end).then("fails").alias("fails")
    cut = changed(data, data.table.filter(pl.col("decided") < end).with_columns(known))
    part = made.play(cut, since, FOREVER, moment)
    same = part.table.filter(pl.col("decided") < end)
    assert len(same) > 20
    assert np.array_equal(whole.of(same), part.of(same))
    assert whole.mixture.taught > part.mixture.taught > made.taught  # both were fitted anew


def changed(data: Dataset, table: pl.DataFrame) -> Dataset:
    other = replace(data, table=table)
    other.__dict__["builder"] = data.builder
    return other


def test_playing_on_gives_what_playing_at_once_gives() -> None:
    made, since = started()
    data = failing.dataset()
    border = int(data.borders[1])
    at_once = made.play(data, since, FOREVER, None)
    before = made.play(data, since, border, None)
    after = before.mixture.play(data, border, FOREVER, None)
    assert np.array_equal(at_once.of(before.table), before.predictions)
    assert np.allclose(at_once.of(after.table), after.predictions, atol=0.1)
    assert set(before.table["place"]).isdisjoint(set(after.table["place"]))


@pytest.mark.parametrize("moment", [None, "start"])
def test_rows_are_found_in_any_order(moment: str | None) -> None:
    made, since = started()
    data = failing.dataset()
    played = made.play(data, since, FOREVER, moment)
    shuffled = played.table.sample(fraction=1.0, shuffle=True, seed=1)
    by_place = dict(zip(played.table["place"], played.predictions, strict=True))
    assert played.of(shuffled).tolist() == [by_place[place] for place in shuffled["place"]]
    if moment is None:
        # No outcome is known within a minute: the first rows rest on the first weights alone.
        first = played.table[:1]
        asked = data.examples(first, moment=moment)[1]
        assert played.of(first) == pytest.approx(made.predict(asked.inputs))


def test_a_dropped_decision_teaches_once_its_outcome_is_known() -> None:
    made, since = started()
    data = failing.dataset()
    some = (pl.col("place") % 2 == 0) & (pl.col("decided") >= since)
    dropped = data.table.with_columns(part=pl.when(some).then(-1).otherwise("part").cast(pl.Int8))
    ours = made.play(data, since, FOREVER, None)
    theirs = made.play(changed(data, dropped), since, FOREVER, None)
    assert np.array_equal(ours.predictions, theirs.predictions)


def test_predictions_of_a_history_that_goes_on_are_those_of_the_test() -> None:
    trained = failing.trained()
    table, labelled = trained.main.parts["test"]
    found = predicted_in_time(
        trained.model.fitted["mixture"], failing.dataset(), table, labelled, None
    )
    assert np.array_equal(found, trained.main.evaluation.predictions["mixture"])


def test_it_is_made_of_models_that_can_be_fitted_anew() -> None:
    fitted = failing.trained().model.fitted
    with pytest.raises(TrainingError, match="none of its models can be fitted anew"):
        Mixture.of({"constant": fitted["constant"]}, {"constant": 0.5}, 0)
    nothing: Any = None
    with pytest.raises(TrainingError, match="made of other models"):
        mixture().fit(nothing, seed=0)


def opened(folder: Path) -> ModelDir:
    return ModelDir.open(folder, FAIL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    trained = failing.trained()
    folder = tmp_path / "model"
    folder.mkdir()
    trained.model.save(folder, seed=0, facts=trained.facts())
    return folder


def test_saved_and_opened_it_predicts_the_same(folder: Path) -> None:
    trained = failing.trained()
    table, labelled = trained.main.parts["test"]
    again = opened(folder)
    one, other = (model.fitted["mixture"] for model in (trained.model, again))
    assert np.array_equal(one.predict(labelled.inputs), other.predict(labelled.inputs))
    ours, theirs = (
        predicted_in_time(fitted, failing.dataset(), table, labelled, None)
        for fitted in (one, other)
    )
    assert np.array_equal(ours, theirs)
    kept = again.main.moments["start"].fitted["mixture"].model
    assert isinstance(kept, Mixture) and list(kept.members)[-1] == REFIT


def damage(body: Mapping[str, Any], how: str) -> dict[str, Any]:
    members = list(body["members"])
    changed: dict[str, dict[str, Any]] = {
        "no refit": {
            "members": members[:-1],
            **{name: body[name][:-1] for name in ("weights", "usual")},
        },
        "a weight less": {"weights": body["weights"][1:]},
        "no usual weights": {"usual": []},
        "text": {"taught": "many"},
        "a stranger": {"members": [["x", {**members[0][1], "name": "../x"}], *members[1:]]},
        "no schema": {"schema": -1},
    }
    return {**body, **changed[how]}


@pytest.mark.parametrize(
    "how", ["no refit", "a weight less", "no usual weights", "text", "a stranger", "no schema"]
)
def test_a_damaged_mixture_is_one_error(how: str, folder: Path, tmp_path: Path) -> None:
    place = folder / "fails" / "models" / "mixture"
    model = place / "model.json"
    model.write_text(json.dumps(damage(json.loads(model.read_text()), how)))
    with pytest.raises(ModelError, match="was changed since training"):
        opened(folder)

    def member(data: Mapping[str, Any], at: Path) -> Fitted:
        if data["name"] == "../x":
            raise ValueError("no model is named so")
        return failing.trained().model.fitted["constant"]

    with pytest.raises(ModelError, match="mixture"):
        Mixture.load(place, member)


def test_rows_that_cannot_teach_leave_the_old_member() -> None:
    """Where the outcomes known are all of one kind, a linear model cannot be fitted."""
    made, since = started()
    data = failing.dataset()
    none = pl.when(pl.col("fails").is_not_null()).then(False).alias("fails")
    played = made.play(changed(data, data.table.with_columns(none)), since, FOREVER, None)
    assert played.mixture.taught == made.taught
    assert played.mixture.members[REFIT].model is made.members[REFIT].model


def test_each_row_is_answered_with_the_weights_of_now() -> None:
    made, _ = started()
    rows: Labelled = failing.trained().main.parts["test"][1]
    each: Floats = np.stack([one.predict(rows.inputs) for one in made.members.values()], axis=1)
    odds = np.log(each / (1 - each)) @ made.weights.now
    assert made.predict(rows.inputs) == pytest.approx(1 / (1 + np.exp(-odds)), abs=1e-4)
