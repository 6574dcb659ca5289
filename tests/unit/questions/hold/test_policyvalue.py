import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.histories import EPOCH
from tests.support.hold_models import (
    EXITED,
    MEMORY,
    TIMED_OUT,
    constant_model,
    held,
    history,
    released,
)

from jobsight.errors import SourceError
from jobsight.history.timelines import History
from jobsight.learning.dataset import Dataset
from jobsight.learning.modeldir import ModelDir
from jobsight.questions.hold.policyvalue import ANSWERS, HINDSIGHT, PLANTED, score_answers

MADE: dict[str, Any] = {"bootstrap": 100}


def scored(model: ModelDir, of: History, truth: Path | None = None) -> dict[str, Any]:
    data = Dataset.for_judging(of, model)
    found = score_answers(model, data, np.ones(len(data.table), np.bool_), truth)
    assert found is not None
    return found


def bounds(found: dict[str, Any], policy: str, measure: str) -> tuple[Any, Any]:
    one = found["by_batch"][policy][measure]
    return pytest.approx(one["low"]), pytest.approx(one["high"])


def four(*more: list[Any]) -> History:
    """Four clusters, 200 s apart, of which the first release succeeds."""
    return history(*(released(200 * k, k, good=k == 1) for k in range(1, 5)), *more)


def test_a_release_gets_what_it_got() -> None:
    found = scored(constant_model(0.6, **MADE), four())
    assert found["decisions"] == 4
    assert found["unknown"] == 0
    assert found["by_batch"][ANSWERS]["verbs"] == {"release": 1.0}
    for measure, mean in {"finished": 0.25, "wasted": 0.75, "lost": 0.0, "gain": 0.25}.items():
        assert (mean, mean) == bounds(found, ANSWERS, measure)
    # Held again 5 s after its release, 7 s after its only start, which was before that.
    assert bounds(found, ANSWERS, "wasted_seconds") == (0.0, 0.0)
    assert bounds(found, HINDSIGHT, "gain") == (1.0, 1.0)
    assert bounds(found, "always_release", "ahead") == (0.0, 0.0)


def test_a_wasted_run_takes_from_its_start_to_its_end() -> None:
    one = released(100, 1, good=False)
    start = one[1] | {"at": 104}
    assert bounds(
        scored(constant_model(0.6, **MADE), history([*one, start])), ANSWERS, "wasted_seconds"
    ) == (3.0, 3.0)


def test_an_unknown_outcome_is_bounds_and_an_unsure_answer_leaves_the_job() -> None:
    unknown = held(1000, 9)
    unknown.append({**unknown[0], "at": 1002, "code": 13})
    found = scored(constant_model(0.6, **MADE), four(unknown))
    assert found["unknown"] == 1
    assert bounds(found, ANSWERS, "finished") == (0.2, 0.4)
    assert bounds(found, ANSWERS, "gain") == (0.0, 1.0)
    assert bounds(found, "always_release", "ahead") == (0.0, 0.0)
    unsure = scored(constant_model(0.1, margin=0.4, **MADE), four())
    assert unsure["by_batch"][ANSWERS]["verbs"] == {"unsure": 1.0}
    assert bounds(unsure, ANSWERS, "lost") == (0.25, 0.25)
    assert bounds(unsure, ANSWERS, "gain") == (0.0, 0.0)
    assert bounds(unsure, "always_release", "ahead") == (-0.25, -0.25)


def test_a_wait_is_worth_what_like_releases_got_then() -> None:
    # Of one origin at one site: the first fails, that of 30 to 60 s later succeeds.
    model = constant_model(0.1, delays={30.0: 0.9}, **MADE)
    like = [
        released(at, k, good=good, cause=TIMED_OUT)
        for k, (at, good) in enumerate([(100, False), (140, True), (400, True)], start=1)
    ]
    found = scored(model, history(*like))
    assert found["by_batch"][ANSWERS]["verbs"] == {"wait": 1.0}
    assert found["waits"] == {"advised": 1.0, "known": pytest.approx(1 / 3), "right": 1.0,
                              "sent_away": 0.0}  # fmt: skip
    assert bounds(found, ANSWERS, "finished") == (1 / 3, 1.0)
    assert bounds(found, ANSWERS, "delay_seconds") == (30.0, 30.0)
    # 30 s, one time scale, cost 0.05.
    assert bounds(found, ANSWERS, "gain") == (2 / 3 - 0.05, 4 - 0.05)


def test_a_fix_is_worth_what_edited_jobs_got() -> None:
    job = {"cluster": 7, "owner": "ann"}
    edited = [*held(90, 7, cause=MEMORY, attributes=json.dumps({"RequestMemory": 128}))]
    edited += [job | {"at": 92, "code": 13, "attributes": json.dumps({"RequestMemory": 512})}]
    edited += [job | {"at": 99, "code": 5, "return_value": 0}]
    model = constant_model(0.02, margin=0.01, **MADE)
    jobs = [released(200 * k, k, good=False, cause=MEMORY) for k in range(1, 4)]
    unknown = scored(model, history(*jobs))
    assert unknown["by_batch"][ANSWERS]["verbs"] == {"fix": 1.0}
    assert bounds(unknown, ANSWERS, "gain") == (-1.0, 4.0)
    found = scored(model, history(edited, *jobs))
    assert found["decisions"] == 3
    assert bounds(found, ANSWERS, "finished") == (1.0, 1.0)


def test_jobs_count_alike_where_asked() -> None:
    # One job is released twice in batches of its own, another once.
    twice = [*released(100, 1, good=False)[:-1]]
    again = released(300, 1, good=False)[3:]
    found = scored(
        constant_model(0.6, **MADE), history([*twice, *again], released(600, 2, good=True))
    )
    assert found["by_batch"][ANSWERS]["finished"]["low"] == pytest.approx(1 / 3)
    assert found["by_job"][ANSWERS]["finished"]["low"] == pytest.approx(1 / 2)


def test_what_was_planted_decides_too(tmp_path: Path) -> None:
    truth = tmp_path / "truth.jsonl"
    lines = [{"start": EPOCH.isoformat(), "regime": "A"}, {"outage": "origin:a", "from": 1.0}]
    lines += [{"job": f"{k}.0", "release": 200.0 * k + 3, "p": 0.9 * (k == 1)} for k in (1, 2, 3)]
    truth.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = scored(constant_model(0.6, **MADE), four(), truth)
    assert found["by_batch"][PLANTED]["verbs"] == {"release": 0.25, "remove": 0.75}
    assert bounds(found, PLANTED, "finished") == (0.25, 0.25)
    assert bounds(found, PLANTED, "wasted") == (0.0, 0.0)


@pytest.mark.parametrize(
    ("text", "words"),
    [("no JSON\n", "cannot read"), ('{"job": "1.0", "cause": "bug"}\n', "no planted chances")],
)
def test_a_truth_that_says_nothing_of_releases_is_refused(
    tmp_path: Path, text: str, words: str
) -> None:
    truth = tmp_path / "truth.jsonl"
    truth.write_text(text)
    with pytest.raises(SourceError, match=words):
        scored(constant_model(0.6), four(), truth)
    with pytest.raises(SourceError, match="cannot read"):
        scored(constant_model(0.6), four(), tmp_path / "none")


def test_nothing_to_score() -> None:
    model = constant_model(0.6)
    data = Dataset.for_judging(history(released(100, 1, good=True, cause=EXITED)), model)
    assert score_answers(model, data, np.zeros(len(data.table), np.bool_), None) is None
