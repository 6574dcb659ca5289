"""Plans: what is said of which pending job, in which order, and what is left alone."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.pendinganswers import answers

from jobsight.acting.slurm.plan import TAG, Answers, Change, Plan, make_plan, names_of, stake_of
from jobsight.history.slurm.ids import parse_id
from jobsight.history.slurm.squeue import FIELDS, Queued
from jobsight.settings import ActingSettings

ZONE = dt.timezone(dt.timedelta(hours=2))
NOW = int(dt.datetime(2026, 11, 28, 14, 7, 30, tzinfo=ZONE).timestamp())
UNTIL = "; until 11-28 14:22"
HOURS = 3600.0


def line(job: str = "7", comment: str = "", *, state: str = "PENDING", **more: Any) -> Queued:
    id_ = parse_id(job)
    texts = dict.fromkeys(set(FIELDS) - {"id"}, "")
    values = {
        "raw_id": id_.base, "state": state, "user": "ann", "cpus": 4, "time_limit_s": HOURS,
        "admin_comment": comment, **more,
    }  # fmt: skip
    unknown = dict.fromkeys(("submit", "start", "end", "nodes", "memory", "priority"))
    return Queued(id=id_, **{**texts, **unknown, "restarts": None, **values})


def known(*names: str, **given_: Any) -> dict[str, Answers]:
    return {name: answers(now=NOW, **given_) for name in names}


def plan_of(
    queue: list[Queued], of: Mapping[str, Answers], most: int = 50, **settings: Any
) -> Plan:
    return make_plan(queue, of, ActingSettings(**settings), asked_at=NOW, zone=ZONE, most=most)


def comment_of(queue: list[Queued], of: Mapping[str, Answers]) -> str:
    (change,) = plan_of(queue, of).changes
    return change.comment


def written(queue: list[Queued], plan: Plan) -> list[Queued]:
    """The queue once a plan is carried out."""
    new = {change.line.raw_id: change.comment for change in plan.changes}
    return [
        msgspec.structs.replace(each, admin_comment=new.get(each.raw_id, each.admin_comment))
        for each in queue
    ]


def test_a_line_says_when_it_starts_and_whether_it_fails() -> None:
    assert comment_of([line()], known("7")) == (
        f"{TAG}starts 16:00-17:15, fails 60 % (out of memory), try --mem=8G{UNTIL}"
    )


@pytest.mark.parametrize(("given_", "said"), [
    ({"wait": (30.0, 400.0, 1000.0)}, "starts by 14:30"),
    ({"wait": (20 * HOURS, 30 * HOURS, 40 * HOURS)}, "starts Sun 10:00-Mon 07:00"),
    ({"wait": (8 * 24 * HOURS,) * 3}, "starts 12-06 14:00-12-06 20:00"),
    ({"blocked": "held by its user"}, "does not start by itself: held by its user"),
    ({"wait": None, "not_before": tuple((NOW + k * 3600) * 1_000_000 for k in (1, 2, 3))},
     "starts after 15:00"),
    ({"wait": None, "fails": 0.33, "kind": "failed", "option": None}, "fails 35 %"),
])  # fmt: skip
def test_what_is_known_in_words(given_: dict[str, Any], said: str) -> None:
    given_ = {"fails": 0.1, **given_}
    assert comment_of([line()], known("7", **given_)) == f"{TAG}{said}{UNTIL}"


def test_a_dry_run_prints_what_is_changed_and_why() -> None:
    array = line("9_[0-4]", time_limit_s=HOURS / 2)
    (change,) = plan_of([array], known("9_0", "9_4")).changes
    assert str(change) == f"9_[0-4] (new, 6.0 core-hours at stake): {change.comment}"
    fields = change.to_json()
    assert (fields["jobs"], fields["base"], fields["tasks"]) == (["9_[0-4]"], "9", 5)
    (change,) = plan_of([line(comment=f"{TAG}x")], {}).changes
    assert str(change) == "7 (out of date, 0.0 core-hours at stake): clear"


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert plan_of([line()], {}).changes == []
    assert plan_of([line()], known("7", wait=None, fails=0.1)).changes == []


def test_hostile_words_become_one_short_line() -> None:
    evil = "a\n\"b\" 'c' `d` \\ \x1b[31m " + "e" * 500
    comment = comment_of([line()], known("7", blocked=evil, option=evil))
    assert comment.isprintable() and comment.isascii() and len(comment) < 240
    assert not set("\"'`\\") & set(comment)


def test_of_an_array_the_first_and_the_last_task_count() -> None:
    array = line("9_[3-5,9%2]")
    assert names_of(array) == ("9_3", "9_9")
    of = known("9_3") | known("9_9", wait=(4 * HOURS,) * 3)
    assert comment_of([array], of).startswith(f"{TAG}starts 16:00-18:15, fails")
    assert stake_of(array) == 4 * 4


def test_another_tools_comment_is_left_alone() -> None:
    for other in ("JS1:abc", "jobsight", "none", " "):
        plan = plan_of([line(comment=other)], known("7"))
        assert (plan.changes, plan.counts["others"]) == ([], 1)


@pytest.mark.parametrize("other", [
    line("7+0"), line("7_3", raw_id="8"), line(state="COMPLETED"), line(state="?"),
    line("7_[1,...]"),
])  # fmt: skip
def test_what_is_no_whole_record_is_left_alone(other: Queued) -> None:
    assert plan_of([other], known("7", "7_1", "7_3", "7+0")).changes == []


def test_what_started_is_cleared_by_one_call_for_an_array() -> None:
    ours = f"{TAG}starts by 14:00; until 11-28 14:10"
    tasks = [line(f"7_{k}", ours, state="RUNNING", raw_id=str(70 + k)) for k in range(3)]
    others = line("7_9", "another", state="RUNNING", raw_id="79")
    (change,) = plan_of([*tasks, others], {}).changes
    assert (change.comment, change.why) == ("", "it started")
    assert [change.is_of(each) for each in [*tasks, others]] == [True] * 3 + [False]
    assert not change.is_of(line("7_4", ours)) and not change.is_of(
        line("7", ours, state="TIMEOUT")
    )


def test_words_are_written_again_when_they_change_or_expire() -> None:
    queue = written([line()], plan_of([line()], known("7")))
    assert plan_of(queue, known("7")).changes == []
    # The quantiles moved on by minutes, the words did not.
    assert plan_of(queue, known("7", wait=(7300.0, 9000.0, 10750.0))).changes == []
    (change,) = plan_of(queue, known("7", fails=0.9)).changes
    assert change.why == "it changed"
    (change,) = plan_of(queue, known("7"), valid=901, every=450, renew=1).changes
    assert change.why == "renewed"


@pytest.mark.parametrize(("until", "left"), [
    ("14:22", True), ("14:09", False), ("14:00", False), ("23:59", True), ("03:00", False),
])  # fmt: skip
def test_what_has_no_answer_any_more_is_cleared_when_it_expires(until: str, left: bool) -> None:
    comment = f"{TAG}starts by 15:00; until 11-28 {until}"
    changes = plan_of([line(comment=comment)], {}).changes
    assert [change.why for change in changes] == ([] if left else ["out of date"])
    for broken in (TAG, f"{TAG}x; until 11-28 99:99 ", f"{TAG}x"):
        assert len(plan_of([line(comment=broken)], {}).changes) == 1


def test_most_at_stake_comes_first_and_clearing_before_it() -> None:
    queue = [
        line("1", cpus=1), line("2", cpus=64), line("3_[0-99]"), line("4", f"{TAG}x"),
        line("5", time_limit_s=math.inf),
    ]  # fmt: skip
    of = known("1", "2", "3_0", "3_99", "5")
    plan = plan_of(queue, of)
    assert [change.line.raw_id for change in plan.changes] == ["4", "3", "5", "2", "1"]
    assert plan.changes[1].stake == pytest.approx(400 * 0.6)
    # An answer that is less sure has less at stake.
    of["3_0"] = of["3_99"] = answers(now=NOW, fails=None, wait=(0.0, 5e5, 1e6))
    assert [change.line.raw_id for change in plan_of(queue, of).changes][1:3] == ["5", "2"]
    few = plan_of(queue, of, most=2)
    assert (len(few.changes), few.counts["left"]) == (2, 3)
    assert plan_of(queue, of, most=-1).changes == []


def test_a_change_is_made_of_what_it_was_planned_for_alone() -> None:
    change = Change(line(), "starts by 15:00", "14:22", "new")
    assert change.is_of(line()) and change.is_of(line(comment=f"{TAG}old"))
    for other in (line(comment="theirs"), line(state="RUNNING"), line("7_2", raw_id="9")):
        assert not change.is_of(other)


STATES = st.sampled_from(["PENDING", "RUNNING", "SUSPENDED", "COMPLETED", "REQUEUE_HOLD"])
COMMENTS = st.sampled_from(
    ["", "theirs", f"{TAG}x; until 11-28 14:15", f"{TAG}x; until 11-28 14:00", TAG]
)
LINES = st.tuples(STATES, COMMENTS, st.booleans(), st.booleans())


@given(st.lists(LINES, max_size=12), st.integers(0, 12))
def test_whatever_the_queue_theirs_stays_and_a_second_plan_has_the_rest(
    lines: list[tuple[str, str, bool, bool]], most: int
) -> None:
    queue = [
        line(str(k + 1) if whole else f"99_{k}", text, state=state, raw_id=str(k + 1))
        for k, (state, text, whole, _) in enumerate(lines)
    ]
    of = known(*(str(k + 1) for k, each in enumerate(lines) if each[3]))
    plan = plan_of(queue, of, most)
    assert len(plan.changes) <= most
    assert all(change.line.admin_comment != "theirs" for change in plan.changes)
    after = queue
    for _ in lines:
        after = written(after, plan_of(after, of))
    assert [each.admin_comment for each in after if each.admin_comment == "theirs"] == [
        each.admin_comment for each in queue if each.admin_comment == "theirs"
    ]
    assert [change for change in plan_of(after, of).changes if change.why != "it started"] == []
