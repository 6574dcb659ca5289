"""Plans: what is said of which held job, what the policy may act on, and what is refused."""

from typing import Any

import classad2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.heldanswers import answer_for, answers_for

from jobsight.acting.condor.plan import ATTRIBUTES, Plan, Said, make_plan
from jobsight.questions.hold.answering.answer import Answer
from jobsight.settings import ActingSettings, Mode

NOW = 1_800_000_000


def held(proc: int = 0, *, code: int = 13, ago: int = 100, owner: str = "ann", **more: Any) -> Any:
    return {
        "ClusterId": 7, "ProcId": proc, "Owner": owner, "JobStatus": 5, "HoldReasonCode": code,
        "HoldReasonSubCode": 256, "EnteredCurrentStatus": NOW - ago, "NumHolds": 1, **more,
    }  # fmt: skip


def plan_of(
    ads: list[Any], answers: list[Answer], mode: Mode = "enforce", lately: int = 0, **settings: Any
) -> Plan[Said]:
    return make_plan(
        ads, answers, ActingSettings(mode=mode, **settings),
        asked_at=NOW, schedd="ap", marked_lately=lately,
    )  # fmt: skip


def written(ads: list[Any], plan: Plan[Said]) -> list[Any]:
    """The ads once the plan is carried out, as the schedd would have them."""
    by_job = {(ad["ClusterId"], ad["ProcId"]): dict(ad) for ad in ads}
    for change in plan.changes:
        taken_back = {"JobsightAct": "undefined"}
        values = change.said.assignments(plan.asked_at) if change.said else taken_back
        for job in change.jobs:
            for name, text in values.items():
                value = classad2.ExprTree(text).eval()
                by_job[job][name] = None if value == classad2.Value.Undefined else value
    return list(by_job.values())


def marked(ads: list[Any]) -> list[int]:
    return [ad["ProcId"] for ad in ads if ad.get("JobsightAct") is True]


def test_equal_answers_are_one_edit_and_a_second_plan_has_none() -> None:
    ads = [held(proc) for proc in range(200)]
    plan = plan_of(ads, answers_for(ads))
    (change,) = plan.changes
    assert len(change.jobs) == 200
    assert change.said is not None
    assert (change.said.verb, change.said.probability, change.said.release_after) == (
        "release",
        0.8,
        0,
    )
    after = written(ads, plan)
    assert marked(after) == list(range(200))
    again = plan_of(after, answers_for(after))
    assert again.changes == []
    assert again.counts["unchanged"] == again.counts["marked"] == 200


def test_advise_marks_none_and_takes_back_what_enforce_marked() -> None:
    ads = [held()]
    after = written(ads, plan_of(ads, answers_for(ads)))
    plan = plan_of(after, answers_for(after), "advise")
    assert marked(written(after, plan)) == []
    assert not plan.renew


@pytest.mark.parametrize("code", [1, 15, 16])
def test_holds_by_hand_are_left_alone(code: int) -> None:
    ads = [held(code=code)]
    assert plan_of(ads, answers_for(ads)).changes == []


def test_an_answer_for_another_hold_says_nothing() -> None:
    ads = [held()]
    for other in (held(ago=300), held(code=12), held(ProcId=1)):
        assert plan_of(ads, [answer_for(other)]).changes == []
    # Held in the second of the look, it may have been held again since.
    now = [held(ago=0)]
    assert plan_of(now, answers_for(now)).changes == []


def test_held_again_the_old_mark_is_taken_back() -> None:
    again = [held(ago=10, JobsightAct=True, JobsightVerb="release", JobsightAsOf=NOW - 50)]
    (change,) = plan_of(again, []).changes
    assert (change.said, change.refused) == (None, "it has no answer for this hold")
    assert marked(written(again, plan_of(again, answers_for(again)))) == [0]


def test_a_job_that_is_no_longer_to_be_released_is_taken_back_first() -> None:
    ads = [held(proc) for proc in range(3)]
    after = written(ads, plan_of(ads, answers_for(ads)))
    plan = plan_of(after, [*answers_for(after[:2]), answer_for(after[2], "fix", None)])
    assert [change.said is None for change in plan.changes] == [True, False]
    final = written(after, plan)
    assert marked(final) == [0, 1]
    assert final[2]["JobsightVerb"] == "fix"


def test_caps_bound_what_is_marked_and_say_so() -> None:
    ads = [held(proc, owner="ann" if proc < 6 else "bob") for proc in range(10)]
    plan = plan_of(ads, answers_for(ads), per_user=3)
    assert len(marked(written(ads, plan))) == 6
    assert any("per_user" in str(change.refused) for change in plan.changes)
    assert len(marked(written(ads, plan_of(ads, answers_for(ads), at_once=2)))) == 2
    plan = plan_of(ads, answers_for(ads), per_minute=5, lately=4)
    assert len(marked(written(ads, plan))) == 1
    # What is marked already counts for what is marked at once, not for the minute.
    after = written(ads, plan)
    again = plan_of(after, answers_for(after), per_minute=5, lately=5)
    assert len(marked(written(after, again))) == 1


def test_a_job_held_too_often_is_advised_only() -> None:
    ads = [held(NumHolds=10), held(1, NumHolds=9)]
    plan = plan_of(ads, answers_for(ads))
    assert marked(written(ads, plan)) == [1]
    assert any("most_holds" in str(change.refused) for change in plan.changes)


def test_removal_is_marked_only_if_asked_for() -> None:
    ads = [held()]
    answers = answers_for(ads, "remove")
    assert marked(written(ads, plan_of(ads, answers))) == []
    assert marked(written(ads, plan_of(ads, answers, removal=True))) == [0]


def test_answers_to_act_on_are_renewed_before_they_expire() -> None:
    ads = [held(ago=1000)]
    after = written(ads, plan_of(ads, answers_for(ads)))
    assert not plan_of(after, answers_for(after)).renew
    after[0]["JobsightAsOf"] = NOW - 300
    plan = plan_of(after, answers_for(after))
    assert (plan.changes, plan.renew) == ([], True)
    assert not plan_of(after, []).renew


def test_a_wait_says_until_when_in_steps_of_five_minutes() -> None:
    ads = [held()]
    (change,) = plan_of(ads, [answer_for(ads[0], "wait", wait=1000.0)]).changes
    assert change.said is not None
    assert change.said.release_after is not None
    assert change.said.release_after % 300 == 0
    assert 0 <= change.said.release_after - (NOW - 100 + 60 + 1000) < 300
    assert not change.said.act


@given(st.lists(st.floats(0, 1), max_size=60), st.lists(st.text(), min_size=60, max_size=60))
def test_at_most_thirty_probabilities_and_reasons(chances: list[float], texts: list[str]) -> None:
    ads = [held(proc) for proc in range(len(chances))]
    pairs = zip(ads, chances, texts, strict=False)
    answers = [answer_for(ad, "release", chance, reason=text) for ad, chance, text in pairs]
    after = written(ads, plan_of(ads, answers))
    assert len({ad["JobsightProbability"] for ad in after}) <= 30
    assert len({ad["JobsightReason"] for ad in after}) <= 30


@given(st.text())
def test_a_hostile_text_stays_one_string(text: str) -> None:
    ad = held()
    said = Said.of_answer(answer_for(ad, reason=text, model=text))
    values = said.assignments(NOW)
    assert list(values) == ["JobsightAsOf", *ATTRIBUTES]
    for name in ("JobsightReason", "JobsightModel"):
        inner = values[name][1:-1]
        assert inner.isprintable()
        assert not set('"\\') & set(inner)
        assert len(inner) <= 200
        assert classad2.ExprTree(values[name]).eval() == inner
