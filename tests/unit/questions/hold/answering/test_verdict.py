from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from jobsight.history.counts import Count, Tally
from jobsight.questions.hold.answering.fixes import Fix
from jobsight.questions.hold.answering.verdict import (
    AGAIN,
    FAILED_BATCHES,
    Chance,
    Verdict,
    decide,
    earliest,
    hourly_delay_cost,
)
from jobsight.settings import Costs

COSTS = Costs(wasted_run=1.0, lost_job=4.0)  # releasing pays from 0.2 on; 100 s cost 0.1
SURE, MAYBE = Fix("memory", "ask for more"), Fix("input", "supply it", certain=False)


def chance(probability: float, low: float = 0.0, high: float = 1.0, wait: float = 0.0) -> Chance:
    return Chance(wait, probability, low, high)


def verdict(
    *chances: Chance,
    fix: Fix | None = None,
    failed: int = 0,
    costs: Costs = COSTS,
    soonest: float = 0.0,
) -> Verdict:
    return decide(
        chances, costs, delay_per_hour=3.6, soonest=soonest, fix=fix, failed_batches=failed
    )


@pytest.mark.parametrize(
    ("chances", "more", "verb", "gain"),
    [
        ([chance(0.6)], {}, "release", 0.6 * 4 - 0.4),
        ([chance(0.2)], {}, "release", 0.0),  # the threshold itself
        # What is certain to need a fix gets it unless a release pays.
        ([chance(0.1, 0.0, 0.4)], {"fix": SURE}, "fix", None),
        ([chance(0.1, 0.0, 0.4)], {"fix": MAYBE}, "unsure", 0.0),
        ([chance(0.3, 0.0, 0.4)], {"fix": SURE}, "release", None),
        ([chance(0.4)], {"fix": MAYBE}, "release", None),
        # Else its upper bound is to be under the threshold.
        ([chance(0.05, 0.0, 0.19)], {"fix": MAYBE}, "fix", 0.95 - 0.2),
        ([chance(0.05, 0.0, 0.2)], {"fix": MAYBE}, "unsure", 0.0),
        ([chance(0.05, 0.0, 0.9)], {}, "unsure", 0.0),
        # A wait that alone pays, and one that pays less than nothing.
        ([chance(0.05, 0.0, 0.1), chance(0.7, 0.6, 0.8, wait=100)], {}, "wait", None),
        ([chance(0.05, 0, 0.06), chance(0.19, 0.15, 0.3, wait=100)], {}, "unsure", None),
        # To be removed five batches must have failed, and no release may be likely, now or later.
        ([chance(0.01, 0.0, 0.1)], {"failed": FAILED_BATCHES}, "remove", None),
        ([chance(0.01, 0.0, 0.1)], {"failed": 4}, "unsure", None),
        ([chance(0.01, 0.0, 0.1), chance(0.02, 0.0, 0.3, 100)], {"failed": 9}, "unsure", None),
        ([chance(0.01, 0.0, 0.1), chance(0.02, 0.0, 0.1, 100)], {"failed": 9}, "remove", None),
        ([chance(0.01, 0.0, 0.1)], {"fix": MAYBE, "failed": 9}, "fix", None),
    ],
)
def test_the_table(
    chances: list[Chance], more: dict[str, Any], verb: str, gain: float | None
) -> None:
    found = verdict(*chances, **more)
    assert found.verb == verb
    assert gain is None or found.gain == pytest.approx(gain)


def test_wait_only_if_it_surely_gains_more_than_its_delay_costs() -> None:
    # 100 s cost 0.1, which 0.02 more probability (times 5) just makes up for.
    now = chance(0.5, 0.45, 0.55)
    assert verdict(now, chance(0.6, 0.569, 0.65, wait=100)).verb == "release"
    waits = [chance(0.6, 0.58, 0.65, wait=100), chance(0.62, 0.58, 0.65, wait=200)]
    assert verdict(now, waits[1]).verb == "release"
    found = verdict(now, *waits)
    assert (found.verb, found.best) == ("wait", waits[0])
    assert found.gain == pytest.approx(1.9)
    # Of what looks better but is not surely so, nothing is said.
    assert verdict(chance(0.5, 0.1, 0.9), chance(0.8, 0.6, 0.9, wait=100)).verb == "release"


def test_what_was_held_again_waits_longer_each_time() -> None:
    assert [earliest(failed, 30.0) for failed in (0, 1, 2, 3, 99)] == [0, 30, 60, 120, 64 * 30]
    now, later = chance(0.5, 0.4, 0.6), chance(0.4, 0.3, 0.7, wait=100)
    assert verdict(now, later, soonest=-5.0).verb == "release"
    found = verdict(now, later, soonest=40.0)
    assert (found.verb, found.best, found.why) == ("wait", replace(later, wait=40.0), AGAIN)
    # Beyond what is learned, and where nothing is, the nearest that is known stands for it.
    assert verdict(now, later, soonest=140.0).best == replace(later, wait=140.0)
    assert verdict(now, soonest=40.0).best == replace(now, wait=40.0)
    surely = chance(0.9, 0.85, 0.95, wait=200)
    assert verdict(now, later, surely, soonest=40.0).best == surely
    assert verdict(now, chance(0.1, 0.0, 0.1, wait=100), soonest=40.0).verb == "unsure"


def test_a_fix_that_comes_first_is_made_whatever_the_odds() -> None:
    found = verdict(chance(0.7), fix=replace(MAYBE, first=True))
    assert (found.verb, found.gain) == ("fix", 0.0)
    assert verdict(chance(0.05), fix=replace(MAYBE, first=True)).gain == pytest.approx(0.95 - 0.2)


def test_a_release_that_probably_fails_says_why_it_is_tried() -> None:
    why = "it probably fails again; tried because a lost job costs 4 times a wasted run"
    assert verdict(chance(0.4)).why == why
    assert verdict(chance(0.1, 0.0, 0.15), chance(0.4, 0.3, 0.5, wait=1)).why == why
    assert verdict(chance(0.5)).why is None
    assert verdict(chance(0.05)).why is None
    cheap = Costs(wasted_run=2.0, lost_job=5.0)
    assert "costs 2.5 times a wasted run" in (verdict(chance(0.4), costs=cheap).why or "")


def test_without_probability() -> None:
    assert verdict(fix=SURE) == Verdict("fix", None, 0.0)
    assert verdict(fix=MAYBE) == verdict() == Verdict("unsure", None, 0.0)


def test_cost_of_delay() -> None:
    assert hourly_delay_cost(Costs(delay_per_hour=0.5), 60.0) == 0.5
    # One time scale of 60 s costs a twentieth of a run, an hour sixty times that.
    assert hourly_delay_cost(Costs(wasted_run=2.0), 60.0) == pytest.approx(6.0)


def tally() -> Tally:
    rows = [  # key, ended, success, batch
        (0, 10, False, 0),
        (0, 30, True, 0),
        (0, 20, False, 1),
        (1, 20, True, 2),
        (-1, 5, True, 3),
    ]
    keys, ended, success, batch = (np.array(column) for column in zip(*rows, strict=True))
    return Tally(keys, ended, success.astype(bool), batch)


def test_outcomes_count_from_when_they_were_written() -> None:
    assert tally().count(0, 9) == Count(0, 0, 0, 0.0, 0)
    assert tally().count(0, 10) == Count(1, 0, 1, 0.0, 1)
    assert tally().count(0, 20) == Count(2, 0, 2, 0.0, 2)
    # The batch that had failed until now has a success among two.
    assert tally().count(0, 30) == Count(3, 1, 2, 0.5, 1)


def test_recent_outcomes() -> None:
    assert tally().recent(0, 10, 30) == (2, 1)
    assert tally().recent(1, 20, 30) == (0, 0)


def test_unknown_keys_count_nothing() -> None:
    for key in (-1, 7):
        assert tally().count(key, 99) == Count(0, 0, 0, 0.0, 0)
    empty = np.zeros(0, np.int64)
    assert Tally(empty, empty, empty.astype(bool), empty).recent(0, 0, 9) == (0, 0)
