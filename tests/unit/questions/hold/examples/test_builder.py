"""Examples of held jobs: what features, causes and facts say of small logs."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.support.histories import micros, table

from jobsight.history.labels import label_rows
from jobsight.history.timelines import History, delayed
from jobsight.models.base import Inputs
from jobsight.questions.hold.examples.builder import ExampleBuilder
from jobsight.questions.hold.examples.decisions import held_jobs, hold_decisions
from jobsight.questions.hold.settings import HoldSettings, Scale

SCALE = Scale(
    time_scale=10.0, windows=(10.0, 40.0), delays=(10.0,), timeframe_len=2.0, horizon=100.0
)
SETTINGS = HoldSettings.model_validate({"frames": {"m": 3, "j": 2}})


def held(at: float, cluster: int = 1, **more: Any) -> dict[str, Any]:
    row = {"at": at, "cluster": cluster, "code": 12, "hold_code": 13, "hold_subcode": 256}
    return row | {"reason": "timed out ( URL file = a://o1/f )", "owner": "ann"} | more


def event(at: float, code: int, cluster: int = 1, **more: Any) -> dict[str, Any]:
    return {"at": at, "cluster": cluster, "code": code, "owner": "ann"} | more


def examples(rows: list[dict[str, Any]], delay: float = 0.0) -> tuple[pl.DataFrame, Inputs]:
    history = History.from_table(table(rows))
    decisions = hold_decisions(history, SETTINGS, label_rows(history)).table
    return ExampleBuilder.of(history, SETTINGS, SCALE).build(decisions, str(delay))


def built(rows: list[dict[str, Any]]) -> Inputs:
    return examples(rows)[1]


def value(inputs: Inputs, name: str, row: int = -1) -> float:
    return float(inputs.features[row, inputs.names.index(name)])


def released(*, outcomes: list[bool], cluster: int = 2, at: float = 0.0) -> list[dict[str, Any]]:
    """Releases of one other job, a second apart, and what became of them."""
    rows = []
    for good in outcomes:
        rows += [held(at, cluster), event(at + 1, 13, cluster)]
        rows += [event(at + 2, 5, cluster, return_value=0)] if good else []
        at += 3
    return rows


def test_shapes_types_and_names() -> None:
    inputs = built([event(0, 0), held(5), event(9, 13)])
    assert inputs.features.dtype == np.float32
    assert inputs.features.shape == (1, len(inputs.names))
    assert len(set(inputs.names)) == len(inputs.names)
    assert inputs.frames is not None
    assert inputs.frames.shape == (1, 3, 2)
    assert inputs.state_events == len(SETTINGS.frames.state_events)


def test_causes_go_from_coarse_to_fine() -> None:
    causes = built([held(5), event(9, 13)]).causes
    assert list(causes) == ["code", "subcode", "reason"]
    assert causes["code"][0] == "13"
    assert causes["subcode"][0] == "13/256"
    assert causes["reason"][0].startswith("13/256 timed out")
    assert "a://" not in causes["reason"][0]


def test_facts_count_this_hold_among_the_holds() -> None:
    by_hand = held(1, hold_code=1)
    rows = [by_hand, event(2, 13), held(5), event(9, 13), held(12), event(20, 13)]
    facts = built(rows).facts
    assert facts["num_holds"].tolist() == [2, 3]
    assert facts["hold_code"].tolist() == [13, 13]
    assert facts["hold_subcode"].tolist() == [256, 256]


def test_facts_count_how_like_releases_ended_each_batch_once() -> None:
    """Two releases of a cluster within a minute are a batch; of the job itself each counts."""
    others = [*released(outcomes=[False, True]), *released(outcomes=[True], at=100.0, cluster=3)]
    own = [held(200), event(201, 13), held(202), event(203, 13), held(204), event(210, 13)]
    inputs = built([*others, *own])
    counts = {
        level: tuple(int(inputs.facts[f"{what} {level}"][-1]) for what in ("good", "bad"))
        for level in inputs.learned
    }
    assert counts == {
        "all": (1, 2), "subcode": (1, 2), "reason": (1, 2), "cluster": (0, 1),
        "cluster and cause": (0, 1), "job and cause": (0, 2),
    }  # fmt: skip


def test_a_subcode_that_is_not_told_is_minus_one() -> None:
    inputs = built([held(5, hold_subcode=None), event(9, 13)])
    assert inputs.facts["hold_subcode"].tolist() == [-1]
    assert inputs.causes["subcode"][0] == "13/?"


def test_spans_are_in_paces_on_a_logarithmic_scale() -> None:
    inputs = built([event(0, 0), held(20), event(50, 13)])
    assert value(inputs, "held for") == pytest.approx(np.log1p(3))
    assert value(inputs, "job: since submission") == pytest.approx(np.log1p(5))
    assert value(inputs, "delay") == 0


def test_how_far_the_attempt_came() -> None:
    before = [event(0, 0), event(1, 40, detail=2), event(2, 40, detail=3)]
    ran = built([*before, event(3, 1), held(23), event(50, 13)])
    assert value(ran, "attempt: ran") == 1
    assert value(ran, "attempt: run time") == pytest.approx(np.log1p(2))
    assert value(ran, "attempt: input transfers done") == pytest.approx(np.log(2))
    again = [event(3, 1), held(23), event(50, 13), event(51, 40, detail=2), held(52)]
    not_ran = built([*before, *again, event(60, 13)])
    assert value(not_ran, "attempt: ran") == 0
    assert np.isnan(value(not_ran, "attempt: run time"))
    assert value(not_ran, "attempt: input transfers") == pytest.approx(np.log(2))
    assert value(not_ran, "attempt: input transfers done") == 0
    assert value(not_ran, "job: input transfers done") == pytest.approx(np.log(2))


def test_rates_lean_on_what_is_coarser() -> None:
    inputs = built([*released(outcomes=[True, True]), held(20), event(30, 13)])
    everything = (2 + 2 * 0.5) / (2 + 2)
    code = (2 + 2 * everything) / (2 + 2)
    assert value(inputs, "all: rate") == pytest.approx(everything)
    assert value(inputs, "code: rate") == pytest.approx(code)
    assert value(inputs, "cause: rate") == pytest.approx((2 + 2 * code) / 4)
    assert value(inputs, "cause: settled") == pytest.approx(np.log(3))
    assert value(inputs, "job: settled") == 0


def test_an_outcome_is_unknown_before_it_is_written() -> None:
    running = [held(0, 2), event(1, 13, 2), held(5), event(9, 13), event(12, 5, 2, return_value=0)]
    assert value(built(running), "all: settled", 1) == 0


def test_the_own_releases_of_a_job() -> None:
    rows = [held(0), event(1, 13), held(5), event(9, 13), held(12), event(20, 13)]
    inputs = built(rows)
    assert value(inputs, "job and cause: settled") == pytest.approx(np.log(3))
    assert value(inputs, "job and cause: rate") < value(inputs, "job and cause: rate", 0)
    assert value(inputs, "job: releases") == pytest.approx(np.log(3))


def test_the_worst_cause_of_a_job_is_remembered() -> None:
    bad: dict[str, Any] = {"hold_code": 6, "hold_subcode": 2, "reason": "invalid interpreter"}
    others = []
    for n in range(4):
        others += [held(n, 5, **bad), event(n + 0.2, 13, 5), *released(outcomes=[True], at=n + 0.4)]
    mine = [held(20, **bad), event(21, 13), held(22), event(30, 13)]
    rows = sorted([*others, *mine], key=lambda row: row["at"])
    inputs = built(rows)
    assert value(inputs, "job: worst rate of a cause") < value(inputs, "cause: rate")
    fresh = built([*others[:12], held(20), event(30, 13)])
    assert value(fresh, "job: worst rate of a cause") == pytest.approx(value(fresh, "cause: rate"))


def test_an_origin_that_serves_again() -> None:
    """Another job that was held for the origin starts after this hold."""
    down = [held(0, 2), event(10, 13, 2), held(12, 1)]
    recovered = built([*down, event(15, 1, 2), event(20, 13)])
    still = built([*down, held(15, 2), event(20, 13)])
    name = "origin, since hold: starts against holds"
    assert value(recovered, name) == pytest.approx(np.log(3))
    assert value(still, name) == pytest.approx(-np.log(3))
    assert value(recovered, "origin: since last start") == pytest.approx(np.log1p(0.5))


def test_jobs_that_end_well_speak_for_the_origin_of_their_cluster() -> None:
    """A job that never failed is of the origin that its cluster's last hold named."""
    down = [held(0, 2), event(10, 1, 2, proc=1), held(12, 1)]
    works = built([*down, event(15, 5, 2, proc=1, return_value=0), event(20, 13)])
    fails = built([*down, held(15, 2, proc=1), event(20, 13)])
    other = built([*down, event(15, 5, 3, return_value=0), event(20, 13)])
    name = "likely origin, since hold: ended well against holds"
    assert [value(one, name) for one in (works, fails, other)] == pytest.approx(
        [np.log(3), -np.log(3), 0.0]
    )
    assert value(works, "cluster, since hold: ended well against holds") == 0.0


def test_a_hold_that_names_no_origin_has_that_of_its_job_or_cluster() -> None:
    silent: dict[str, Any] = {"reason": "exited with code 1"}
    name = "likely origin: ended well"
    assert np.isnan(value(built([held(0, **silent), event(5, 13)]), name))
    later = [held(0), held(1, proc=1, **silent), event(5, 13, proc=1)]
    assert value(built(later), name) == 0.0
    assert np.isnan(value(built([held(0, 2), *later[1:]]), name))


def test_a_hold_that_names_no_origin_has_none() -> None:
    inputs = built([held(0, reason="exited with code 1"), event(5, 13)])
    assert np.isnan(value(inputs, "origin: rate"))
    assert np.isnan(value(inputs, "site: rate"))
    assert not np.isnan(value(inputs, "cause: rate"))


def test_how_many_are_held_alike_now() -> None:
    rows = [held(0, 2), held(0, 3), held(0, 4), event(1, 13, 3), event(2, 9, 4), held(3)]
    assert value(built([*rows, event(9, 13)]), "cause: held now") == pytest.approx(np.log(3))


def test_requests_and_usage_come_from_the_last_ad_before_the_release() -> None:
    ad = '{"RequestMemory": 100, "RequestCpus": 2, "RequestDisk": "3 * 4"}'
    edited = '{"RequestMemory": 900}'
    rows = [event(0, 0), event(1, 1), event(2, 6, memory_mb=80), event(3, 6, memory_mb=60)]
    inputs = built([*rows, held(5, attributes=ad), event(9, 13, attributes=edited)])
    assert value(inputs, "job: RequestMemory") == pytest.approx(np.log(101))
    assert np.isnan(value(inputs, "job: RequestDisk"))
    assert value(inputs, "job: memory") == pytest.approx(np.log(61))
    assert value(inputs, "job: peak memory to request") == pytest.approx(np.log(81 / 101))


@pytest.mark.parametrize("ad", ["", "[1]", '{"RequestMemory": ', '{"RequestMemory": -1}', "{}"])
def test_ads_that_tell_nothing_leave_requests_unknown(ad: str) -> None:
    inputs = built([held(5, attributes=ad), event(9, 13)])
    assert np.isnan(value(inputs, "job: RequestMemory"))


def test_a_delay_moves_the_cut_back_and_leaves_out_who_was_not_held_yet() -> None:
    rows = [held(0), event(12, 5, 2, return_value=0), event(20, 13)]
    rows += [held(0, 3), event(5, 13, 3)]
    rows.sort(key=lambda row: row["at"])
    left, inputs = examples(rows, delay=10.0)
    assert left.select("cluster", "delay", "time").rows() == [(1, 10.0, micros(10))]
    assert value(inputs, "delay") == pytest.approx(np.log(2))
    assert value(inputs, "held for") == pytest.approx(np.log(2))
    assert value(inputs, "held for at release") == pytest.approx(np.log(3))
    assert value(inputs, "cluster: ends") == 0


def test_a_delay_that_reaches_back_to_the_hold_still_sees_the_hold() -> None:
    rows = [event(10, 0), held(10), event(10, 6, 2), event(20, 13)]
    history = History.from_table(table(rows))
    moved = delayed(history, hold_decisions(history, SETTINGS, label_rows(history)).table, 10.0)
    assert moved["cut"].to_list() == [2]
    assert examples(rows, delay=10.0)[1].facts["num_holds"].tolist() == [1]
    assert len(examples(rows, delay=10.5)[1]) == 0


def test_no_delay_changes_nothing_but_says_so() -> None:
    rows = [event(1, 0), held(5), event(9, 6, 2), event(9, 13)]
    history = History.from_table(table(rows))
    decisions = hold_decisions(history, SETTINGS, label_rows(history)).table
    assert delayed(history, decisions, 0.0).drop("delay").equals(decisions)


def test_a_live_question_is_told_what_training_would_be() -> None:
    rows = [*released(outcomes=[True, False]), event(8, 0), held(10)]
    training = built([*rows, event(30, 13)])
    history = History.from_table(table(rows))
    asked = held_jobs(history, micros(30), label_rows(history)).filter(pl.col("cluster") == 1)
    asked = asked.with_columns(time=pl.lit(micros(30)))
    live = ExampleBuilder.of(history, SETTINGS, SCALE, frames=False).inputs(asked)
    assert live.features.tobytes() == training.features[-1].tobytes()
    assert live.frames is None


def test_asking_for_nobody_gives_no_rows() -> None:
    inputs = built([event(0, 0), event(1, 1)])
    assert len(inputs) == 0
    assert inputs.features.shape == (0, len(inputs.names))
