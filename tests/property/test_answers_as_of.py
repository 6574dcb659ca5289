"""An answer rests on nothing written after the moment asked about."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.histories import table
from tests.support.hold_models import BY_USER, EXITED, MEMORY, TIMED_OUT, answered, constant_model
from tests.support.limits import examples

from jobsight.history.labels import label_rows
from jobsight.history.timelines import History
from jobsight.learning.mixture import REFIT, Mixture, Weights
from jobsight.learning.modeldir import Fitted, ModelDir, TargetModel
from jobsight.models.base import Floats, Inputs
from jobsight.questions.hold.examples.decisions import held_jobs

SITES = ("mwt2", "ucsd", None)


def random_history(seed: int, jobs: int = 30) -> pl.DataFrame:
    """Jobs in two logs that are held, released, edited, end or are removed, all by chance."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for number in range(jobs):
        at = float(rng.integers(0, 40))
        cause = (EXITED, MEMORY, TIMED_OUT, BY_USER)[rng.integers(4)]
        site = SITES[rng.integers(3)]
        job: dict[str, Any] = {"cluster": 1 + number // 4, "proc": number % 4, "log": number % 2}
        job["owner"] = ("ann", "bob", None)[rng.integers(3)]
        rows.append(job | {"at": at, "code": 0})
        for _ in range(rng.integers(1, 4)):
            at += float(rng.choice([0.0, 0.5, 2.0]))
            rows.append(job | {"at": at, "code": 1, "slot": site and f"slot1@{site}@vm"})
            at += float(rng.choice([0.0, 1.0, 5.0]))
            hold = {"hold_code": cause[0], "hold_subcode": cause[1], "reason": cause[2]}
            rows.append(job | {"at": at, "code": 12} | hold)
            at += float(rng.choice([1.0, 4.0, 15.0]))
            if rng.random() < 0.2:
                rows.append(job | {"at": at, "code": 33})
            if rng.random() < 0.8:
                rows.append(job | {"at": at, "code": 13, "reason": "by (by user ann)"})
        at += float(rng.choice([1.0, 6.0]))
        end = (
            {"code": 5, "return_value": int(rng.integers(2))} if rng.random() < 0.7 else {"code": 9}
        )
        rows.append(job | {"at": at} | end)
    return table(sorted(rows, key=lambda row: (row["log"], row["at"])))


class SumOfAll:
    """A model that any change of any input changes."""

    name = "sum"
    needs_both = False

    def predict(self, inputs: Inputs) -> Floats:
        whole = np.nan_to_num(inputs.features.astype(np.float64)) @ np.arange(
            1.0, inputs.features.shape[1] + 1
        )
        return np.asarray(0.5 + 0.5 * np.sin(whole), np.float64)


def sum_model() -> ModelDir:
    model = constant_model(0.5, delays={20.0: 0.5})
    usual = model.answering

    def fitted() -> Fitted:
        return Fitted(SumOfAll(), usual.calibrated, 50)  # type: ignore[arg-type]

    later = TargetModel("constant", "for tests", {"constant": fitted()}, {})
    one = replace(model.main, fitted={"constant": fitted()}, moments={"20.0": later})
    return replace(model, targets={"outcome": one})


def mixture_model() -> ModelDir:
    """Its members contradict each other, so every outcome moves the weights."""
    model, usual = sum_model(), constant_model(0.8).answering
    members = {"sum": model.answering, REFIT: usual}
    mixed = Mixture(members, Weights.first(2, 20), 20, 0)
    one = replace(model.main, fitted={"constant": replace(usual, model=mixed)})
    return replace(model, targets={"outcome": one})


def answers(events: pl.DataFrame, moment: int, model: ModelDir | None) -> list[dict[str, Any]]:
    history = History.from_table(events)
    return [answer.to_json() for answer in answered(history, moment, model)]


@pytest.mark.parametrize("made", [None, sum_model, mixture_model])
@given(st.integers(0, 10_000), st.floats(0.2, 0.9))
@settings(max_examples=examples(12))
def test_what_comes_later_changes_nothing(
    made: Callable[[], ModelDir] | None, seed: int, share: float
) -> None:
    events = random_history(seed)
    history = History.from_table(events)
    first, last = int(history.clock.min()), int(history.clock.max())
    moment = first + round((last - first) * share)
    model = made and made()
    cut = events.filter(pl.Series(history.clock <= moment))
    assert answers(cut, moment, model) == answers(events, moment, model)


@given(st.integers(0, 10_000))
@settings(max_examples=examples(10))
def test_at_the_end_of_the_log_is_at_its_last_moment(seed: int) -> None:
    events = random_history(seed)
    history = History.from_table(events)
    end = int(history.clock.max())
    one_log = events.filter(pl.col("log") == 0)
    for table_of in (events, one_log):
        of = History.from_table(table_of)
        held = held_jobs(of, end, label_rows(of))
        assert len(answers(table_of, end, None)) == len(held)
