"""The trial's schedule, its bot, and its accounting; no cluster."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.support.hold_models import (
    EXITED,
    MEMORY,
    TIMED_OUT,
    answered,
    constant_model,
    held,
    history,
)
from tests.trial.__main__ import main
from tests.trial.bot import (
    ASK_AGAIN,
    OWNER_TAKES,
    Bot,
    Command,
    Decision,
    Policy,
    answers_in_ads,
    read_answer,
)
from tests.trial.results import account
from tests.trial.schedule import REGIMES, Submission, plan

Ad = dict[str, Any]


@pytest.mark.parametrize("regime", REGIMES)
def test_a_seed_gives_one_schedule(regime: str) -> None:
    schedule = plan(3, regime, jobs=50, seconds=100.0)
    assert schedule == plan(3, regime, jobs=50, seconds=100.0)
    assert schedule != plan(4, regime, jobs=50, seconds=100.0)
    assert sum(one.count for one in schedule.submissions) == 50
    assert len({one.name for one in schedule.submissions}) == len(schedule.submissions)
    ends: dict[tuple[str, str], float] = {}
    for outage in schedule.outages:
        place = outage.site, outage.origin
        assert ends.get(place, 0.0) <= outage.begin < outage.end  # one at a time at a place
        ends[place] = outage.end


def _submission(cause: str) -> Submission:
    return Submission(0.0, "alice", f"{cause}-v1", "amber", 2, 5, cause, 0.5, 3, True)


def test_a_fix_takes_the_bug_out_of_a_program() -> None:
    assert "exit 3\n" in _submission("bug").program()
    assert _submission("bug").program(fixed=True) == _submission("none").program()
    assert _submission("interpreter").program(fixed=True).startswith("#!/bin/sh\n")
    assert "result.dat" in _submission("output").program(fixed=True)
    assert "result.dat" not in _submission("output").program()


def _answers(probability: float, **more: Any) -> dict[str, Any]:
    """An answer for a job held for its memory, one for a crash and one for an outage, by job."""
    jobs = held(5.0, 1, cause=MEMORY), held(6.0, 2, cause=(3, 1, "job exited with code 139"))
    log = history(*jobs, held(8.0, 3, cause=TIMED_OUT))
    moment = int(log.clock.max())
    model = constant_model(probability, **more)
    answers = answered(log, moment, model)
    return {str(one.job): json.loads(json.dumps(one.to_json())) for one in answers}


def _lines(decision: Decision) -> list[str]:
    return [shlex.join(command) for command in decision.commands]


def test_answers_are_read_as_commands() -> None:
    likely, unlikely = _answers(0.9), _answers(0.01)
    release = read_answer(likely["3.0"])
    assert (release.verb, release.person) == ("release", False)
    assert _lines(release) == ["condor_release -name ap 3.0"]
    edit = read_answer(unlikely["1.0"])
    assert (edit.verb, edit.person) == ("fix", False)
    assert _lines(edit) == [
        "condor_qedit -name ap 1.0 RequestMemory 256",
        "condor_release -name ap 1.0",
    ]
    bug = read_answer(unlikely["2.0"])
    assert (bug.verb, bug.person) == ("fix", True)
    assert _lines(bug) == ["condor_release -name ap 2.0"]
    nothing = read_answer(unlikely["3.0"])  # nothing like it was released: once, to see
    assert (nothing.verb, nothing.person) == ("unsure", False)
    assert _lines(nothing) == ["condor_release -name ap 3.0"]


def test_a_wait_is_read_as_its_seconds_and_the_release() -> None:
    wait = read_answer(_answers(0.3, delays={30.0: 0.9})["3.0"])
    assert (wait.verb, wait.wait, wait.person) == ("wait", 30.0, False)
    assert _lines(wait) == ["condor_release -name ap 3.0"]


def test_no_other_command_is_run() -> None:
    answer = _answers(0.9)["3.0"]
    answer["advice"]["steps"][0]["command"] = "condor_hold 3.0"
    with pytest.raises(ValueError, match="condor_hold"):
        read_answer(answer)


class _Played:
    """A bot whose policy says the same of every job, and what it did."""

    def __init__(self, folder: Path, decision: Decision, *, fixes: bool = True) -> None:
        self.ran: list[Command] = []
        self.asked: list[str] = []
        self.fixed: list[int] = []
        self.decision = decision
        policy: Policy = self._decide
        self.log = folder / "decisions.jsonl"
        self.bot = Bot(policy, self.ran.append, self._fix, self.log, Random(1))
        self.fixes = fixes

    def _decide(self, ads: Sequence[Ad]) -> dict[str, Decision]:
        self.asked += [f"{ad['ClusterId']}.{ad['ProcId']}" for ad in ads]
        return dict.fromkeys(self.asked, self.decision)

    def _fix(self, cluster: int) -> bool:
        self.fixed.append(cluster)
        return self.fixes


def _ad(proc: int, since: int = 100) -> Ad:
    code, subcode, _ = EXITED
    job = {"ClusterId": 1, "ProcId": proc, "EnteredCurrentStatus": since}
    return job | {"HoldReasonCode": code, "HoldReasonSubCode": subcode}


def test_a_hold_is_decided_once_and_dropped_when_it_is_over(tmp_path: Path) -> None:
    later = Decision("remove", 10.0, (("condor_rm", "1.0"),))
    played = _Played(tmp_path, later)
    played.bot.round(0.0, [_ad(0)])
    assert not played.bot.idle([_ad(0)])
    played.bot.round(11.0, [])  # not held any more
    assert (played.asked, played.ran) == (["1.0"], [])
    played.bot.round(12.0, [_ad(0, since=112)])
    played.bot.round(23.0, [_ad(0, since=112)])
    assert played.ran == [("condor_rm", "1.0")]
    assert played.bot.idle([_ad(0, since=112)])


@pytest.mark.parametrize("fixes", [True, False])
def test_a_person_is_asked_once_for_a_cluster_and_cause(tmp_path: Path, fixes: bool) -> None:
    asks = Decision("fix", 0.0, (("condor_release", "1.0", "1.1"),), person=True)
    played = _Played(tmp_path, asks, fixes=fixes)
    played.bot.round(0.0, [_ad(0)])
    played.bot.round(5.0, [_ad(0), _ad(1)])
    assert (played.bot.messages, played.ran) == (1, [])
    played.bot.round(OWNER_TAKES + 1.0, [_ad(0), _ad(1)])
    assert played.fixed == [1, 1]
    released = [("condor_release", "1.0"), ("condor_release", "1.1")]
    assert played.ran == (released if fixes else [])


def test_a_trial_of_other_jobs_leaves_a_job_for_later(tmp_path: Path) -> None:
    trial = Decision("unsure", 0.0, (("condor_release", "1.0", "1.1", "1.2"),))
    played = _Played(tmp_path, trial)
    played.bot.round(0.0, [_ad(0), _ad(3)])
    played.bot.round(5.0, [_ad(3)])
    assert (played.ran, played.asked) == ([("condor_release", "1.0")], ["1.0", "1.3"])
    played.bot.round(ASK_AGAIN, [_ad(3)])
    assert played.asked == ["1.0", "1.3", "1.3"]


def test_a_tenth_of_releases_is_delayed_and_logged(tmp_path: Path) -> None:
    played = _Played(tmp_path, Decision("release", 0.0, ()))
    played.bot.round(0.0, [_ad(number) for number in range(2000)])
    rows = [json.loads(line) for line in played.log.read_text().splitlines()]
    explored = [row for row in rows if row["explored"]]
    assert 150 < len(explored) < 250
    assert {(row["propensity"], row["waits"]) for row in explored} == {(0.1, 20.0)}
    assert {(row["propensity"], row["waits"]) for row in rows if not row["explored"]} == {(0.9, 0)}


_LOG = """\
000 (001.000.000) 2026-11-23 02:00:00Z Job submitted from host: <127.0.0.1:1>
...
040 (001.000.000) 2026-11-23 02:00:02Z Started transferring input files
...
040 (001.000.000) 2026-11-23 02:00:05Z Finished transferring input files
...
004 (001.000.000) 2026-11-23 02:00:05Z Job was evicted.
...
012 (001.000.000) 2026-11-23 02:00:06Z Job was held.
\tcould not connect
\tCode 13 Subcode 768
...
013 (001.000.000) 2026-11-23 02:00:10Z Job was released.
\tvia condor_release (by user root)
...
001 (001.000.000) 2026-11-23 02:00:12Z Job executing on host: <127.0.0.1:2>
...
005 (001.000.000) 2026-11-23 02:00:20Z Job terminated.
\t(1) Normal termination (return value 0)
...
000 (001.001.000) 2026-11-23 02:00:00Z Job submitted from host: <127.0.0.1:1>
...
001 (001.001.000) 2026-11-23 02:00:12Z Job executing on host: <127.0.0.1:2>
...
012 (001.001.000) 2026-11-23 02:00:16Z Job was held.
\tjob exited with code 3
\tCode 3 Subcode 1
...
009 (001.001.000) 2026-11-23 02:00:30Z Job was aborted.
\tvia condor_rm (by user root)
...
"""


def test_jobs_are_accounted_from_the_event_log(tmp_path: Path) -> None:
    log = tmp_path / "EventLog"
    log.write_text(_LOG)
    good, removed = account(log, {1: _submission("flaky")}, 60.0)
    assert (good["finished"], good["wasted_starts"], good["wasted_seconds"]) == (1, 1, 3.0)
    assert (good["waited"], good["removed"]) == (20.0, 0)
    assert (removed["finished"], removed["wasted_starts"], removed["wasted_seconds"]) == (0, 1, 4.0)
    assert (removed["waited"], removed["recoverable_removed"]) == (60.0, 1)
    arms = ("release", "jobsight")
    for arm in arms:  # what has results is not run again
        run = {"seed": 1, "seconds": 60.0, "htcondor": "", "messages": 2, "jobs": [good, removed]}
        place = tmp_path / "bugs-1" / arm / "result.json"
        place.parent.mkdir(parents=True)
        place.write_text(json.dumps(run))
    page = tmp_path / "page.md"
    where = ("--out", str(tmp_path), "--page", str(page))
    assert main(["--seeds", "1", "--regime", "bugs", "--arms", *arms, *where]) == 0
    text = page.read_text()
    assert (
        "| `jobsight` | 1 (1 … 1) | 2 (2 … 2) | 7 (7 … 7) | 1 (1 … 1) | 40 (40 … 40) | 2 |" in text
    )
    assert "| `jobsight` | +0 (+0 … +0) |" in text


def test_owners_act_on_answers_in_ads_that_are_not_for_the_policy() -> None:
    def ad(proc: int, verb: str | None, as_of: int = 20) -> Ad:
        said = {} if verb is None else {"JobsightVerb": verb, "JobsightAsOf": as_of}
        return {"ClusterId": 1, "ProcId": proc, "EnteredCurrentStatus": 10, **said}

    verbs = (None, "release", "wait", "remove", "fix", "unsure")
    held = [ad(proc, verb) for proc, verb in enumerate(verbs)] + [ad(9, "fix", as_of=10)]
    decisions = answers_in_ads()(held)
    assert {job: decision.verb for job, decision in decisions.items()} == {
        "1.4": "fix", "1.5": "unsure",
    }  # fmt: skip
    assert all(decision.person for decision in decisions.values())
