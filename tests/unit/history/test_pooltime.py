from typing import Any

import numpy as np
import pytest
from tests.support.hold_models import EXITED, MEMORY, TIMED_OUT, held, history, released

from jobsight.history.labels import label_rows
from jobsight.history.pooltime import pool_timeline, short_cause


@pytest.mark.parametrize(
    ("code", "masked", "origin", "site", "words"),
    [
        (3, "job exited with code 2", None, "mwt2", "job exited with code 2"),
        (13, "Transfer failed. Details: timed out waiting for response from origin <origin> ( URL "
         "file = <url> )", "lab://ap20", "mwt2", "timed out waiting for response · lab://ap20"),
        (13, "x Details: could not reach cache from <site>: reset by peer (<origin>) ( URL",
         "lab://ap20", "mwt2", "could not reach cache: reset by peer · mwt2"),
        (26, "", None, None, "SystemPolicy"),
        (None, None, None, None, "Unspecified"),
    ],
)  # fmt: skip
def test_causes_in_a_few_words(
    code: int | None, masked: str | None, origin: str | None, site: str | None, words: str
) -> None:
    assert short_cause(code, masked, origin, site) == words


def test_long_causes_and_places_are_cut() -> None:
    assert len(short_cause(3, "x" * 300)) == 52
    assert len(short_cause(3, "x" * 300, "http://" + "y" * 300)) == 52


def test_the_timeline_counts_every_hold_and_end_once() -> None:
    many = [held(400 + k, 100 + k, cause=(3, 1, f"cause {chr(97 + k)}")) for k in range(20)]
    of = history(
        released(100, 1, good=True, cause=TIMED_OUT),
        released(200, 2, good=False, cause=MEMORY),
        held(300, 3, cause=(1, 0, "by hand")),
        *many,
    )
    seen = pool_timeline(of, label_rows(of))
    holds = (of.code == 12) & (of.table["hold_code"] != 1).fill_null(value=False).to_numpy()
    assert sum(int(counts.sum()) for counts in seen.holds.values()) == int(holds.sum())
    assert list(seen.holds)[-1] == "other causes"
    assert int(seen.succeeded.sum()) == 1
    assert int(seen.failed.sum()) == 0
    assert seen.held[-1] == 20
    assert len(seen.edges) == len(seen.held) + 1


def test_a_timeline_of_one_moment() -> None:
    of = history([{"at": 5, "code": 12, "cluster": 1, "hold_code": 3, "hold_subcode": 0}])
    seen = pool_timeline(of, label_rows(of))
    assert int(np.sum(list(seen.holds.values()))) == 1
    assert seen.held[-1] == 1


def test_exits_other_than_zero_are_told_apart() -> None:
    of = history(held(10, 1, cause=EXITED), [{"at": 9, "code": 5, "cluster": 2, "signal": 9}])
    assert int(pool_timeline(of, label_rows(of)).failed.sum()) == 1


def test_a_job_is_held_from_its_vacate_to_its_next_start() -> None:
    job: dict[str, Any] = {"cluster": 1, "proc": 0, "hold_code": None}
    fault = {"code": 4, "vacate_code": 13, "vacate_subcode": 256, "reason": "no origin"}
    hold = {"code": 12, "hold_code": 13, "hold_subcode": 256, "reason": "no origin"}
    rows: list[tuple[int, dict[str, Any]]]
    rows = [(0, {"code": 0}), (30, fault), (60, {"code": 1}), (90, fault), (90, hold),
            (120, {"code": 5, "return_value": 0})]  # fmt: skip
    pool = history([job | row | {"at": at} for at, row in rows])
    seen = pool_timeline(pool, label_rows(pool))
    assert {cause: int(holds.sum()) for cause, holds in seen.holds.items()} == {"no origin": 2}
    assert [int(seen.held[at]) for at in (28, 31, 58, 61, 88, 91, 118)] == [0, 1, 1, 0, 0, 1, 1]
