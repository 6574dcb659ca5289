"""What is said of idle jobs, and when it needs other words."""

from typing import Any

import classad2
import pytest

from jobsight.acting.condor.idle import Expected, Outlook, idle_plan

NOW = 1_800_000_000


def idle(proc: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "ClusterId": 7, "ProcId": proc, "Owner": "ann", "JobStatus": 1,
        "EnteredCurrentStatus": NOW - 100, "QDate": NOW - 100, **more,
    }  # fmt: skip


def expected(proc: int = 0, failure: float | None = 0.31, **more: Any) -> Expected:
    starts = more.pop("starts", (NOW + 60.0, NOW + 1000.0, NOW + 7000.0))
    reason = more.pop("reason", "4 of 12 runs like it failed")
    return Expected((7, proc), NOW - 99.0, failure, starts, reason, "a model", **more)


def written(ad: dict[str, Any], outlook: Outlook, as_of: int = NOW) -> dict[str, Any]:
    values = {name: classad2.ExprTree(text).eval() for name, text in
              outlook.assignments(as_of).items()}  # fmt: skip
    return {**ad, **{name: None if value == classad2.Value.Undefined else value
                     for name, value in values.items()}}  # fmt: skip


def said(ads: list[dict[str, Any]], answers: list[Expected], at: int = NOW) -> list[Outlook | None]:
    return [change.said for change in idle_plan(ads, answers, at).changes]


def test_equal_jobs_are_one_edit_and_a_second_plan_has_none() -> None:
    ads, answers = [idle(proc) for proc in range(50)], [expected(proc) for proc in range(50)]
    plan = idle_plan(ads, answers, NOW)
    (change,) = plan.changes
    assert len(change.jobs) == 50
    assert plan.counts == {"idle": 50, "answered": 50, "unchanged": 0}
    assert change.said is not None
    assert (change.said.failure, change.said.reason) == (0.3, "4 of 12 runs like it failed")
    after = [written(ad, change.said) for ad in ads]
    assert idle_plan(after, answers, NOW).counts["unchanged"] == 50


def test_a_start_is_rounded_up_and_stays_while_it_is_as_likely() -> None:
    (outlook,) = said([idle()], [expected()])
    assert outlook is not None
    assert outlook.start is not None
    assert NOW + 1000 <= outlook.start < NOW + 1600
    assert outlook.start % 600 == 0
    ad = written(idle(), outlook)
    later = (NOW + 400.0, NOW + 1500.0, NOW + 7000.0)
    assert said([ad], [expected(starts=later)], NOW + 300) == []
    much_later = (NOW + 7200.0, NOW + 90_000.0, NOW + 200_000.0)
    (moved,) = said([ad], [expected(starts=much_later)], NOW + 300)
    assert moved is not None
    assert moved.start is not None
    assert moved.start % 86_400 == 0
    # It is over, or no longer known.
    assert said([ad], [expected(starts=(NOW, NOW + 3e3, NOW + 4e3))], outlook.start) != []
    assert said([ad], [expected(starts=None)], NOW + 300) == [
        Outlook(outlook.reason, outlook.model, 0.3, None)
    ]


@pytest.mark.parametrize(
    ("ad", "answer"),
    [
        (idle(QDate=NOW - 500), expected()),
        (idle(EnteredCurrentStatus=NOW), expected()),
        (idle(1), expected()),
        (idle(), expected(failure=None, starts=None)),
    ],
)
def test_nothing_is_said_of_another_job_or_without_knowledge(
    ad: dict[str, Any], answer: Expected
) -> None:
    assert said([ad], [answer]) == []


def test_what_was_said_of_an_earlier_hold_is_replaced() -> None:
    (outlook,) = said([idle()], [expected()])
    assert outlook is not None
    stale = written(idle(), outlook) | {"JobsightVerb": "release", "JobsightAct": True}
    (again,) = said([stale], [expected()])
    assert again is not None
    after = written(stale, again)
    assert (after["JobsightVerb"], after["JobsightAct"]) == (None, None)


def test_at_most_thirty_reasons_are_written() -> None:
    jobs = range(100)
    answers = [expected(proc, reason=f'reason "{proc}" \\') for proc in jobs]
    outlooks = said([idle(proc) for proc in jobs], answers)
    reasons = {outlook.reason for outlook in outlooks if outlook is not None}
    assert len(reasons) == 30
    assert not any('"' in reason or "\\" in reason for reason in reasons)
