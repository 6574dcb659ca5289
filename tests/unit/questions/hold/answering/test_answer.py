import json
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.support.histories import micros, table
from tests.support.hold_models import (
    BY_USER,
    EXITED,
    MEMORY,
    TIMED_OUT,
    answered,
    constant_model,
    held,
    history,
    released,
)

from jobsight.errors import ModelError
from jobsight.history.labels import current_jobs
from jobsight.history.timelines import History
from jobsight.ids import JobId
from jobsight.learning.fingerprints import fingerprints
from jobsight.learning.mixture import REFIT, Mixture, Weights
from jobsight.learning.modeldir import ModelDir
from jobsight.questions.hold.answerable import HOLD_ANSWERS
from jobsight.questions.hold.answering.answer import Answer, Answerer
from jobsight.questions.hold.answering.groups import GroupAnswer, by_use, group_answers
from jobsight.questions.hold.answering.heldjob import Pool
from jobsight.questions.hold.examples.decisions import HeldHistory, HeldName
from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings


def ask(
    of: History, at: float, model: ModelDir | None = None, **settings: Any
) -> dict[str, Answer]:
    answers = answered(of, micros(at), model, HoldSettings.model_validate(settings))
    return {str(one.job): one for one in answers}


def commands(found: Answer | GroupAnswer) -> list[str | None]:
    return [step.command for step in found.advice.steps]


def finding(answer: Answer, what: str) -> dict[str, Any]:
    return next(one for one in answer.evidence if one["what"] == what)


def whats(answer: Answer) -> set[str]:
    return {one["what"] for one in answer.evidence}


FAILED_BEFORE = [released(100 * k, k, good=False, cause=EXITED) for k in range(1, 9)]


def test_the_model_decides() -> None:
    of = history(held(10, 1), held(10, 2, cause=TIMED_OUT))
    found = ask(of, 20, constant_model(0.7))
    assert found["1.0"].verdict.verb == found["2.0"].verdict.verb == "release"
    assert found["1.0"].now is not None
    assert found["1.0"].now.probability == pytest.approx(0.7)
    assert found["1.0"].model == "constant"
    later = ask(of, 20, constant_model(0.3, delays={30.0: 0.9}))
    assert later["1.0"].verdict.verb == "wait"
    assert later["1.0"].verdict.best is not None
    assert later["1.0"].verdict.best.wait == 30.0
    best = later["1.0"].to_json()["at_best"]
    assert (best["at"], best["probability"]) == ("2026-11-21 00:00:50Z", pytest.approx(0.9))


def mixture() -> ModelDir:
    """Its members say 0.2 and 0.8, and it was trained on nothing of these histories."""
    model, other = constant_model(0.2), constant_model(0.8).answering
    mixed = Mixture({"low": model.answering, REFIT: other}, Weights.first(2, 400), 400, 0)
    answering = replace(model.answering, model=mixed)
    return replace(model, targets={"outcome": replace(model.main, fitted={"constant": answering})})


def test_a_mixture_follows_the_outcomes_known_by_then() -> None:
    chances = []
    for good in (True, False):
        jobs = [released(100 * k, k, good=good) for k in range(1, 20)]
        of = history(*jobs, held(50, 90), held(2000, 91))
        for at, name in ((60, "90.0"), (2010, "91.0")):
            now = ask(of, at, mixture())[name].now
            assert now is not None
            chances.append(now.probability)
    before, well, same, badly = chances
    assert before == same
    assert badly < before < well


def test_what_a_mixture_was_trained_on_does_not_teach_again() -> None:
    of = history(*(released(100 * k, k, good=True) for k in range(1, 20)), held(2000, 91))
    model = mixture()
    known = HOLD.decisions(of, model.settings).table
    taught = replace(model, seen=np.unique(fingerprints(known, HOLD.key)))
    first, again = (ask(of, 2010, one)["91.0"].now for one in (model, taught))
    assert first is not None
    assert again is not None
    assert again.probability < first.probability


def test_mend_or_remove_by_cause() -> None:
    of = history(*FAILED_BEFORE, held(1000, 20), held(1000, 21, cause=MEMORY))
    found = ask(of, 1010, constant_model(0.05))
    assert found["20.0"].verdict.verb == "remove"
    assert commands(found["20.0"]) == ["condor_rm -name ap 20.0"]
    assert found["21.0"].verdict.verb == "fix"
    assert commands(found["21.0"]) == [
        "condor_qedit -name ap 21.0 RequestMemory 256",
        "condor_release -name ap 21.0",
    ]
    wide = ask(of, 1010, constant_model(0.05, margin=0.5))
    assert {job: one.verdict.verb for job, one in wide.items()} == {"20.0": "unsure", "21.0": "fix"}


def test_costs_come_from_the_settings_of_whoever_asks() -> None:
    of = history(held(10, 1))
    assert ask(of, 20, constant_model(0.3))["1.0"].verdict.verb == "release"
    dear = {"costs": {"wasted_run": 10, "lost_job": 1}}
    assert ask(of, 20, constant_model(0.3), **dear)["1.0"].verdict.verb == "unsure"


def test_json_has_the_keys_that_are_promised() -> None:
    of = history(*FAILED_BEFORE, held(1000, 20))
    found = json.loads(json.dumps(ask(of, 1010, constant_model(0.7))["20.0"].to_json()))
    assert list(found) == [
        "job", "id", "access_point", "at", "answer", "vacated", "at_best", "probability",
        "interval",
        "hold_code", "hold_subcode", "reason", "owner", "evidence", "advice", "model",
    ]  # fmt: skip
    assert (found["job"], found["at"]) == ("20.0", "2026-11-21 00:16:50Z")
    assert (found["id"], found["access_point"]) == ("htcondor:ap:20.0", "ap")
    assert found["at_best"]["wait"] == 0.0
    assert found["interval"] == pytest.approx([0.65, 0.75], abs=0.01)
    assert found["advice"] == {
        "steps": [{"text": "release it as it is", "command": "condor_release -name ap 20.0"}]
    }


def test_evidence_counts_what_had_ended_by_then() -> None:
    others = released(700, 8, good=True, owner="bob")
    of = history(*FAILED_BEFORE[:5], others, held(1000, 20))
    found = ask(of, 1010, constant_model(0.5))["20.0"]
    same = finding(found, "same_cause")
    assert (same["releases"], same["succeeded"], same["batches"]) == (6, 1, 6)
    assert same["failed_batches"] == 5
    assert finding(found, "same_owner_and_cause")["releases"] == 5
    site = finding(found, "site_lately")
    assert (site["site"], site["starts"], site["holds"]) == ("mwt2", 1, 1)
    before = ask(of, 306.5, constant_model(0.5))
    assert before == {}  # job 3 was released at 302 and is held again at 307
    early = ask(of, 301, constant_model(0.5))["3.0"]
    assert finding(early, "same_cause")["releases"] == 2


def test_a_site_that_alone_holds_runs_is_to_be_avoided() -> None:
    def started_elsewhere(at: float, cluster: int) -> list[Any]:
        job = {"cluster": cluster, "proc": 0, "owner": "bob"}
        start = {"at": at, "code": 1, "slot": "slot1_1@cedar@vm"}
        return [job | {"at": at - 1, "code": 0}, job | start]

    held_here = [held(1000 + k, 20, k, cause=TIMED_OUT) for k in range(6)]
    others = [started_elsewhere(990 + k, 30 + k) for k in range(30)]
    model = constant_model(0.7)
    found = ask(history(*held_here, *others), 1020, model)
    site = finding(found["20.0"], "site_alone")
    assert (site["site"], site["holds"], site["starts"]) == ("mwt2", 6, 6)
    assert site["elsewhere"] == {"holds": 0, "starts": 30}
    (group,) = group_answers(list(found.values()))
    assert "mwt2" in (commands(group)[0] or "")
    assert (commands(group)[1] or "").startswith("condor_release")
    few = ask(history(*held_here, *others[:1]), 1020, model)
    assert "site_alone" not in whats(few["20.0"])
    early = ask(history(*held_here, *others), 1003, model)
    assert "site_alone" not in whats(early["20.0"])


def test_edited_releases_stand_apart() -> None:
    job = {"cluster": 5, "proc": 0, "owner": "ann"}
    edited = [*released(100, 5, good=True), job | {"at": 101, "code": 33}]
    found = ask(history(edited, held(200, 6)), 210, constant_model(0.5))["6.0"]
    assert finding(found, "fixed")["succeeded"] == 1
    assert finding(found, "same_cause")["releases"] == 0


def test_own_releases_and_siblings() -> None:
    job = {"cluster": 5, "proc": 0, "owner": "ann"}
    own = [*held(100, 5), job | {"at": 110, "code": 13}, held(120, 5)[2]]
    found = ask(history(own, held(90, 5, 1)), 130, constant_model(0.5))
    assert finding(found["5.0"], "own_releases")["releases"] == 1
    assert finding(found["5.1"], "siblings")["releases"] == 1
    assert "own_releases" not in whats(found["5.1"])
    assert found["5.0"].alike == found["5.1"].alike == [JobId(5, 1), JobId(5, 0)]


def test_several_clusters_held_by_one_origin_are_one_group_for_a_trial() -> None:
    others = [held(10, k, cause=(13, 256, "timed out ( URL file = lab://ap7/x )")) for k in (8, 9)]
    of = history(
        *[held(10 + k, k, owner="bob" if k < 3 else "ann", cause=TIMED_OUT) for k in range(1, 7)],
        *others,
        held(20, 9, 1, cause=EXITED),
    )
    found = ask(of, 30, constant_model(0.05, margin=0.5))
    ours = {JobId(k, 0) for k in range(1, 7)}
    assert set(found["1.0"].alike) == set(found["6.0"].alike) == ours
    assert set(found["8.0"].alike) == {JobId(8, 0), JobId(9, 0)}  # another origin
    # The owner's own jobs first, whom nobody else may release.
    assert found["2.0"].alike[:2] == [JobId(1, 0), JobId(2, 0)]
    assert commands(found["6.0"]) == ["condor_release -name ap 3.0 4.0 5.0"]
    assert "6 jobs of 6 clusters wait alike" in found["6.0"].advice.steps[0].text
    groups = group_answers(list(found.values()))
    trial = next(one for one in groups if len(one.members) == 6)
    assert (trial.verb, trial.place) == ("unsure", "6 clusters on ap")
    assert len(groups) == 4
    assert {one.place for one in groups if one is not trial} == {
        f"cluster {k} on ap" for k in (8, 9)
    }


def test_jobs_of_other_access_points_or_with_a_fault_of_their_own_do_not_wait_alike() -> None:
    far = [held(10, k, cause=TIMED_OUT, access_point="ap2") for k in (1, 2)]
    site = (34, 102, "Error from slot1_1@mwt2@vm: memory usage 163 MB exceeded request_memory 1 MB")
    own = [held(10, k, cause=site) for k in (4, 5)]
    found = ask(history(held(10, 3, cause=TIMED_OUT), *far, *own), 30, constant_model(0.5))
    assert found["3.0"].alike == [JobId(3, 0)]
    assert found["1.0"].alike == [JobId(1, 0), JobId(2, 0)]
    assert found["4.0"].alike == [JobId(4, 0)]


CRASHED = (3, 1, "job exited with code 139")


def test_a_segmentation_fault_is_fixed_unless_retries_succeed_here() -> None:
    fine = released(100, 2, good=True, cause=CRASHED, owner="bob")
    own = released(1000, 3, good=True, cause=CRASHED)
    of = history(held(90, 1, cause=CRASHED), fine, own)
    found = ask(of, 500, constant_model(0.6))["1.0"]
    assert found.verdict.verb == "fix"
    assert "segmentation fault" in found.advice.steps[0].text
    assert "segmentation fault" in finding(found, "exit")["text"].lower()
    assert (finding(found, "exit")["code"], finding(found, "exit")["signal"]) == (139, 11)
    # From 1007 on it is known that a retry of this owner's succeeded.
    assert ask(of, 1006, constant_model(0.6))["1.0"].verdict.verb == "fix"
    later = ask(of, 1007, constant_model(0.6))["1.0"]
    assert later.verdict.verb == "release"
    assert "1 of 1 retries succeeded here" in later.advice.steps[0].text
    alone = ask(history(held(10, 1, cause=CRASHED)), 20)["1.0"]
    assert (alone.verdict.verb, alone.now) == ("fix", None)


def test_a_program_that_fails_each_time_is_fixed_until_a_sibling_succeeds() -> None:
    others = [released(100 * k, k, good=k % 2 == 0) for k in range(1, 5)]
    tries = [released(at, 9, at // 10, good=False) for at in (600, 700, 720, 740)]
    waits = [held(640, 9, 5), held(640, 10), held(640, 9, 6, cause=TIMED_OUT)]
    outage = [released(600, 9, k, good=False, cause=TIMED_OUT) for k in (7, 8)]
    of = history(*others, *tries, *outage, *waits, released(900, 9, 3, good=True))
    model = constant_model(0.3)
    assert ask(of, 650, model)["9.5"].verdict.verb == "release"
    found = ask(of, 750, model)
    assert found["9.5"].verdict.verb == "fix"
    step = found["9.5"].advice.steps[0]
    assert step.command is None
    assert "exit code 2" in step.text
    assert "4 releases of its cluster failed" in step.text
    assert found["10.0"].verdict.verb == found["9.6"].verdict.verb == "release"
    assert ask(of, 950, model)["9.5"].verdict.verb == "release"


def test_exit_codes_are_explained() -> None:
    def told(code: int) -> str:
        found = ask(history(held(10, 1, cause=(3, 1, f"job exited with code {code}"))), 20)["1.0"]
        return "".join(one["text"] for one in found.evidence if one["what"] == "exit")

    assert "argparse" in told(2)
    assert "not found" in told(127)
    assert "SIGKILL" in told(137)
    assert "SIGTERM" in told(143)
    assert "cmsRun" in told(84)
    assert told(47) == ""


def test_a_hold_with_code_0_that_gives_a_reason_is_answered() -> None:
    found = ask(history(held(10, 1, cause=(0, 0, "Cannot expand $$(GLIDEIN_Site)."))), 20)["1.0"]
    assert (found.verdict.verb, found.by_hand) == ("fix", False)


def test_an_outage_that_ended() -> None:
    back = [
        released(100, k, good=True, cause=TIMED_OUT) for k in range(2, 4)
    ]  # well again at 107, after the hold of job 1
    of = history(held(101, 1, cause=TIMED_OUT), *back)
    short = constant_model(0.5)
    assert "outage" not in whats(ask(of, 108, short)["1.0"])  # lately held, but well again as well
    over = finding(ask(of, 300, short)["1.0"], "outage")
    assert (over["state"], over["ended_well_since"], over["holds"]) == ("over", 2, 0)
    assert "lab://ap20" in over["text"]
    goes_on = finding(ask(of, 102, short)["1.0"], "outage")
    assert (goes_on["state"], goes_on["holds"]) == ("goes_on", 2)
    # A job's own fault is no outage.
    assert "outage" not in whats(ask(history(held(10, 1, cause=MEMORY)), 11, short)["1.0"])


def test_one_hold_alone_is_no_trend() -> None:
    found = whats(ask(history(held(101, 1, cause=TIMED_OUT)), 102, constant_model(0.5))["1.0"])
    assert not {"outage", "cause_lately"} & found
    two = history(held(100, 2, cause=TIMED_OUT), held(101, 1, cause=TIMED_OUT))
    assert {"outage", "cause_lately"} <= whats(ask(two, 102, constant_model(0.5))["1.0"])


def test_what_is_known_of_the_job_itself() -> None:
    ad = {"Iwd": "/home/ann", "Err": "a.err", "UserLog": "/scratch/a.log", "RequestMemory": 128}
    rows = held(100, 5, cause=MEMORY, attributes=json.dumps(ad))
    job = {"cluster": 5, "proc": 0, "owner": "ann"}
    again = [job | {"at": 110, "code": 13}, rows[2] | {"at": 120},
             job | {"at": 121, "code": 13}, rows[2] | {"at": 122}]  # fmt: skip
    found = ask(history([*rows, *again]), 130, constant_model(0.5))["5.0"]
    assert found.owner == found.to_json()["owner"] == "ann"
    files = finding(found, "files")
    assert (files["stderr"], files["log"]) == ("/home/ann/a.err", "/scratch/a.log")
    released = finding(found, "own_releases")
    assert (released["releases"], released["holds"]) == (2, 3)
    assert "released 2 times" in released["text"]
    limit = finding(found, "policy")
    assert limit["holds_again"] is True
    assert "RequestMemory is 128 MB" in limit["text"]


def test_held_by_the_users_own_hand() -> None:
    by_owner = held(10, 1, cause=BY_USER, owner="ann")
    found = ask(history(by_owner), 20, constant_model(0.9))["1.0"]
    assert (found.verdict.verb, found.now, found.by_hand) == ("user_hold", None, True)
    assert found.to_json()["answer"] == "user_hold"
    assert "nothing to decide" in found.advice.steps[0].text
    assert commands(found) == [None]
    assert "its user" in found.advice.steps[0].text
    no_code = ask(history(held(10, 1, cause=(None, None, "old log"))), 20)["1.0"]
    assert (no_code.by_hand, no_code.verdict.verb) == (True, "unsure")
    spooling = ask(history(held(10, 1, cause=(16, 0, "Spooling input data files"))), 20)["1.0"]
    assert spooling.verdict.verb == "user_hold"
    assert no_code.to_json()["hold_code"] is None


OVER_TIME = (3, 0, "The job attribute PeriodicHold expression 'JobStatus == 2 && (time() - "
             "EnteredCurrentStatus > 5)' evaluated to TRUE")  # fmt: skip
STARTS = (3, 0, "The job attribute PeriodicHold expression 'NumJobStarts > 3' evaluated to TRUE")
ON_EXIT = (3, 0, "The job attribute OnExitHold expression 'ExitCode != 0' evaluated to TRUE")
OF_SITE = (26, 0, "The system macro SYSTEM_PERIODIC_HOLD expression 'NumJobStarts > 3' evaluated "
           "to TRUE")  # fmt: skip
GOOD = [
    released(100 * k, 40 + k, good=True, cause=cause, owner="bob")
    for k, cause in enumerate([EXITED, OVER_TIME, STARTS, ON_EXIT, OF_SITE, TIMED_OUT] * 2, 1)
]


@pytest.mark.parametrize("model", [None, constant_model(0.9)])
@pytest.mark.parametrize(
    ("cause", "name"),
    [(OVER_TIME, "PeriodicHold"), (STARTS, "PeriodicHold"), (ON_EXIT, "OnExitHold")],
)
def test_no_release_of_others_outweighs_a_jobs_own_policy(
    model: ModelDir | None, cause: tuple[int, int, str], name: str
) -> None:
    found = ask(history(*GOOD, held(2000, 1, cause=cause)), 2010, model)["1.0"]
    assert (found.verdict.verb, found.now) == ("fix", None)
    assert f"its own policy {name}" in found.advice.steps[0].text
    assert f"condor_qedit -name ap 1.0 {name} false" in commands(found)
    assert commands(found)[-1] == "condor_release -name ap 1.0"
    assert finding(found, "policy")["holds_again"] is (True if cause is STARTS else None)
    (group,) = group_answers([found])
    assert commands(group)[-1] == "condor_release -name ap 1.0"


def test_a_policy_of_the_access_point_is_not_the_users_to_change() -> None:
    found = ask(history(*GOOD, held(2000, 1, cause=OF_SITE)), 2010, constant_model(0.9))["1.0"]
    assert (found.verdict.verb, found.now) == ("fix", None)
    assert "those who run the access point" in found.advice.steps[0].text
    assert commands(found) == [None, "condor_release -name ap 1.0"]


def test_releases_of_the_same_cluster_show_what_its_policy_does() -> None:
    bad = [released(100 * k, 1, k, good=False, cause=ON_EXIT) for k in range(1, 4)]
    of = history(*GOOD, *bad, held(2000, 1, 9, cause=ON_EXIT))
    found = ask(of, 2010)["1.9"]
    assert found.verdict.verb == "fix"
    assert found.now is not None
    assert found.now.probability < 0.25
    fine = [released(100 * k, 1, k, good=True, cause=ON_EXIT) for k in range(4, 8)]
    found = ask(history(*GOOD, *bad, *fine, held(2000, 1, 9, cause=ON_EXIT)), 2010)["1.9"]
    assert found.verdict.verb == "release"
    assert "4 of 7 retries succeeded" in found.advice.steps[0].text


def test_the_policy_is_read_from_the_ad_where_the_reason_is_the_users_own() -> None:
    def policy(cause: tuple[int, int, str], **ad: Any) -> Answer:
        rows = held(2000, 1, cause=cause)
        rows[-1]["attributes"] = json.dumps(ad)
        return ask(history(*GOOD, rows), 2010)["1.0"]

    own = (3, 7, "took too long")
    found = policy(own, PeriodicHold="JobStatus == 2 && time() - EnteredCurrentStatus > 5")
    assert found.verdict.verb == "fix"
    assert "condor_qedit -name ap 1.0 PeriodicHold false" in commands(found)
    # As a 028 has them: by their values.
    found = policy(own, OnExitHold=True, ExitBySignal=False, ExitCode=1)
    assert "exit code 1" in found.advice.steps[0].text
    assert "condor_qedit -name ap 1.0 OnExitHold false" in commands(found)
    # Another cause, and a policy that holds the job again whatever is done about that.
    found = policy(TIMED_OUT, PeriodicHold="NumJobStarts > 3", NumJobStarts=4)
    assert (found.verdict.verb, found.now) == ("fix", None)
    assert commands(found)[0] == "condor_qedit -name ap 1.0 PeriodicHold false"
    found = policy(MEMORY, PeriodicRemove="NumHolds >= 1", NumHolds=1)
    assert commands(found)[:2] == [
        "condor_qedit -name ap 1.0 RequestMemory 256",
        "condor_qedit -name ap 1.0 PeriodicRemove false",
    ]
    found = policy(ON_EXIT, ExitCode=127)
    assert (found.verdict.verb, found.now) == ("fix", None)
    assert "a command that it calls is not found" in found.advice.steps[0].text
    # Its user has switched it off or raised its limit since.
    for edit in ("false", "NumJobStarts > 9"):
        found = policy(STARTS, PeriodicHold=edit, NumJobStarts=4)
        assert finding(found, "policy")["holds_again"] is False
        assert commands(found) == ["condor_release -name ap 1.0"]
    found = policy(TIMED_OUT, PeriodicHold="NumJobStarts > 9", NumJobStarts=4)
    assert found.now is not None
    found = policy(TIMED_OUT, OnExitRemove="false")
    assert "it would run again" in finding(found, "policy")["text"]


def test_the_queue_is_asked_before_the_log() -> None:
    of = history(*GOOD, held(2000, 1, cause=TIMED_OUT))
    moment = micros(2010)
    jobs = HeldHistory(of).held(moment)
    now = {"PeriodicHold": "NumJobStarts > 0", "NumJobStarts": 1}
    (found,) = answered(of, moment, pool=Pool(ads=lambda _: {jobs["job"][0]: now}))
    assert (found.verdict.verb, found.now) == ("fix", None)


def test_the_cause_of_a_hold_without_code_is_in_its_words_or_before_it() -> None:
    missing = (
        "Error from slot1_2@wn57: STARTER at 192.0.2.57 failed to send file(s) to <192.0.2.9:9618>"
        ": error reading from /srv/dir_3/scores.csv: (errno 2) No such file or directory"
    )
    rows = held(10, 1, cause=(0, 0, ""))
    rows.insert(2, rows[1] | {"at": 10, "code": 7, "slot": None, "reason": missing})
    found = ask(history(rows), 20)["1.0"]
    assert (found.verdict.verb, commands(found)) == ("fix", [None, "condor_release -name ap 1.0"])
    assert "never wrote scores.csv" in found.advice.steps[0].text
    assert missing in finding(found, "exception")["text"]
    # An exception of an earlier run is not the cause.
    again = [rows[1] | {"at": 10, "code": 1}]
    assert ask(history(rows[:3], again, rows[3:]), 20)["1.0"].fix is None
    denied = (0, 0, "Error connecting to schedd ce1: AUTHENTICATE:1003:Failed to authenticate")
    found = ask(history(held(10, 1, cause=denied)), 20)["1.0"]
    assert found.verdict.verb == "unsure"
    assert "proxy or token" in found.advice.steps[0].text


def test_a_machine_that_is_to_blame_is_left_out() -> None:
    broken = (45, 0, "Error from slot1_3@wn51.example.org: Singularity test failed: no loop device")
    of = history(*(held(10, 1, proc, cause=broken) for proc in range(2)))
    found = ask(of, 20)["1.0"]
    assert 'TARGET.Machine =!= "wn51.example.org"' in (commands(found)[1] or "")
    (group,) = group_answers(list(ask(of, 20).values()))
    assert 'TARGET.Machine =!= "wn51.example.org"' in (commands(group)[1] or "")
    # Without a slot in its reason it is the one of its run.
    quiet = ask(history(held(10, 1, cause=(45, 0, ""))), 20)["1.0"]
    assert 'TARGET.Machine =!= "vm"' in (commands(quiet)[1] or "")


def test_a_job_does_not_wait_with_itself() -> None:
    alone = ask(history(held(10, 1), held(11, 2)), 20)["1.0"]
    assert finding(alone, "cause_lately")["waiting"] == 0
    three = ask(history(*(held(10, 1, proc) for proc in range(3))), 20)["1.0"]
    assert "2 others of this cluster still wait with it" in finding(three, "cause_lately")["text"]


def test_nothing_known_is_no_dead_end() -> None:
    found = ask(history(held(10, 1, cause=TIMED_OUT)), 20)["1.0"]
    assert (found.verdict.verb, commands(found)) == ("unsure", ["condor_release -name ap 1.0"])
    rows = held(10, 1, cause=STARTS)
    rows[-1]["attributes"] = json.dumps({"PeriodicHold": "false"})
    assert commands(ask(history(rows), 20)["1.0"]) == ["condor_release -name ap 1.0"]
    own = ask(history(held(10, 1, cause=(3, 5, "odd"))), 20)["1.0"]
    assert "condor_q -name ap 1.0 -af:ln" in (commands(own)[0] or "")
    # Equal codes of other jobs' policies say nothing of this one.
    other = ask(history(*GOOD, held(2000, 1, cause=(3, 5, "odd"))), 2010)["1.0"]
    assert other.now is None


def test_without_a_model_the_logs_own_rates_answer() -> None:
    of = history(*FAILED_BEFORE, released(900, 9, good=True, cause=MEMORY), held(1000, 20))
    found = ask(of, 1010)["20.0"]
    assert found.model == "rules+rates (uncalibrated)"
    assert found.now is not None
    assert 0 < found.now.low < found.now.probability < found.now.high < 1
    assert found.now.probability < 0.2
    verdicts = finding(found, "rules")["verdicts"]
    assert verdicts == {
        "crab": "remove", "gridpack": "remove", "ospool": "release", "pegasus": "remove",
        "wmcore": "remove",
    }  # fmt: skip


def test_rule_sets_count_the_holds_of_the_job() -> None:
    again = [held(100 + k, 5)[2] for k in range(5)]
    found = ask(history(held(90, 5), *[[row] for row in again]), 130)["5.0"]
    assert finding(found, "rules")["verdicts"]["ospool"] == "keep"


def test_without_a_model_or_a_like_release() -> None:
    found = ask(history(held(10, 1, cause=MEMORY), held(10, 2, cause=TIMED_OUT)), 20)
    assert (found["1.0"].verdict.verb, found["1.0"].now) == ("fix", None)
    assert found["2.0"].verdict.verb == "unsure"
    assert found["2.0"].to_json()["at_best"] is None
    assert "no release" in finding(found["2.0"], "same_cause")["text"]


def test_a_users_own_log_says_what_it_lacks() -> None:
    assert "missing" in whats(ask(history(held(10, 1)), 20)["1.0"])
    two = history(held(10, 1), held(10, 2, owner="bob"))
    assert "missing" not in whats(ask(two, 20)["1.0"])
    header = {"at": 0, "code": 8, "cluster": -1, "proc": -1}
    assert "missing" not in whats(ask(history([header], held(10, 1)), 20)["1.0"])


def test_a_model_of_what_is_known_at_the_hold_is_refused() -> None:
    with pytest.raises(ModelError, match="known at the hold"):
        HOLD_ANSWERS.require_answerable(constant_model(0.5, as_of="hold").settings)


def test_many_are_answered_as_one_by_one() -> None:
    fine = released(900, 9, good=True)
    of = history(*FAILED_BEFORE, fine, *[held(1000 + k, 20, k) for k in range(6)])
    model, moment = constant_model(0.1, margin=0.3), micros(1010)
    answerer = Answerer(HeldHistory(of), HoldSettings(), model, moment)
    together = answerer.asked(pl.lit(value=True))
    many = [one.to_json() for one in answerer.answer(together)]
    for place, job in enumerate(together["job"]):
        (one,) = answerer.answer(answerer.asked(pl.col("job") == job))
        assert one.to_json() == many[place]
    assert many[0]["advice"]["steps"][-1]["command"] == "condor_release -name ap 20.0 20.1 20.2"


def test_groups_are_by_cause_and_cluster_and_most_useful_first() -> None:
    of = history(
        *[held(10 + k, 20, k) for k in range(5)],
        held(10, 21),
        held(10, 21, 1, cause=MEMORY),
        held(10, 22, cause=BY_USER),
    )
    groups = group_answers(list(ask(of, 30, constant_model(0.7)).values()))
    assert [(group.members[0].job.cluster, len(group.members)) for group in groups] == [
        (20, 5), (21, 1), (21, 1), (22, 1),
    ]  # fmt: skip
    assert groups[0].gain == pytest.approx(5 * (0.7 * 4 - 0.3))
    assert commands(groups[0]) == [
        "condor_release -name ap -constraint 'ClusterId == 20 && JobStatus == 5 && "
        "HoldReasonCode == 3 && HoldReasonSubCode == 1'"
    ]
    assert groups[-1].members[0].by_hand
    assert commands(groups[-1]) == [None]


def test_a_group_shares_no_command_with_others_of_its_codes() -> None:
    other = (3, 1, "job exited with code 3")
    jobs = [held(10 + k, 20, k, cause=EXITED if k < 4 else other) for k in range(8)]
    for group in group_answers(list(ask(history(*jobs), 30, constant_model(0.7)).values())):
        ids = " ".join(str(one.job) for one in group.members)
        assert commands(group) == [f"condor_release -name ap {ids}"]


def test_answers_by_use() -> None:
    of = history(held(10, 1, cause=BY_USER), held(10, 2), held(10, 3))
    ordered = by_use(list(ask(of, 30, constant_model(0.7)).values()))
    assert [str(one.job) for one in ordered] == ["2.0", "3.0", "1.0"]


def find(of: History, at: float, *asked: JobId) -> tuple[list[str], list[str]]:
    held = HeldHistory(of)
    pairs = [held.named(HeldName(name), micros(at)) for name in asked]
    jobs = list(dict.fromkeys(job for numbers, _ in pairs for job in numbers))
    names = [f"{c}.{p}" for c, p in of.jobs[jobs].select("cluster", "proc").iter_rows()]
    return names, [problem for _, problem in pairs if problem]


def test_finding_jobs_by_id() -> None:
    of = history(*[held(10 + k, 20, k) for k in range(3)], released(50, 21, good=True))
    assert find(of, 30, JobId(20, None))[0] == ["20.0", "20.1", "20.2"]
    assert find(of, 30, JobId(20, 2), JobId(20, None))[0] == ["20.2", "20.0", "20.1"]
    found, problems = find(of, 60, JobId(20, 1), JobId(21, 0), JobId(99, 0))
    assert found == ["20.1"]
    assert "21.0 is not held as of 2026-11-21 00:01:00Z: it terminated at" in problems[0]
    assert "no log or store that was read has job 99.0" in problems[1]
    assert "only later" in find(of, 30, JobId(21, None))[1][0]


def test_a_job_that_two_logs_tell_of_is_one() -> None:
    rows = [row | {"log": 0, "access_point": None} for row in held(10, 1)]
    rows += [row | {"log": 1} for row in held(10, 2)]
    rows += [row | {"log": 1} for row in released(11, 1, good=True)]
    of = History.from_table(table(rows))
    assert len(current_jobs(of, micros(12))) == 2
    # The access point's log goes on where the user's own was cut short.
    assert find(of, 60, JobId(1, 0))[0] == []
    assert find(of, 12, JobId(1, 0))[0] == ["1.0"]


def two_access_points() -> History:
    """Ten jobs of equal ids on each, held for the same cause."""
    rows = [
        row | {"log": log, "access_point": name}
        for log, name in enumerate(("ap1", "ap2"))
        for proc in range(10)
        for row in held(10 + proc, 1, proc)
    ]
    return History.from_table(table(rows))


def test_jobs_of_two_access_points_are_two() -> None:
    assert find(two_access_points(), 20, JobId(1, 0))[0] == ["1.0", "1.0"]


@pytest.mark.parametrize("rate", [0.7, 0.1])
def test_groups_and_commands_keep_access_points_apart(rate: float) -> None:
    of = two_access_points()
    # That it is this machine's own does not matter where there are two.
    model = constant_model(rate, margin=0.3)
    answers = answered(of, micros(30), model, pool=Pool(here="ap1"))
    ids = [one.to_json()["id"] for one in answers]
    assert len(set(ids)) == 20
    assert "htcondor:ap2:1.9" in ids
    groups = group_answers(answers)
    assert [len({one.access_point for one in group.members}) for group in groups] == [1, 1]
    every: list[Answer | GroupAnswer] = [*answers, *groups]
    for found in every:
        name = found.access_point if isinstance(found, Answer) else found.members[0].access_point
        assert all(f"-name {name} " in (command or "") for command in commands(found))
    assert {len(one.alike) for one in answers} == {10}


def test_nothing_held() -> None:
    of = history(released(10, 1, good=True))
    assert ask(of, 60) == {}
    assert ask(of, 60, constant_model(0.5)) == {}


INPUT = "Transfer input files failure: timed out waiting for origin ( URL file = lab://ap20/d/1 )"


def vacated(at: float, cluster: int, code: int = 13, subcode: int = -1004) -> list[Any]:
    """The events of a job that a failed transfer of its input vacates at `at` (seconds)."""
    job = {"cluster": cluster, "proc": 0, "owner": "ann"}
    codes = {"vacate_code": code, "vacate_subcode": subcode, "reason": INPUT}
    return [
        job | {"at": at - 3, "code": 0},
        job | {"at": at - 2, "code": 40, "detail": 2},
        job | {"at": at, "code": 4} | codes,
    ]


def test_what_holds_of_older_versions_taught_answers_for_vacates() -> None:
    """A pool that upgrades has the same fault as a hold, and then as a vacate."""
    cause = (13, 256, INPUT)
    holds = [released(100 * k, k, good=k != 3, cause=cause) for k in range(1, 9)]
    found = ask(history(*holds, vacated(1000, 20), held(1000, 21, cause=(13, 7, "x"))), 1001)
    answer = found["20.0"]
    assert answer.vacated and answer.now is not None and answer.now.probability > 0.6
    assert answer.verdict.verb == "release" and commands(answer) == [None]
    assert not found["21.0"].vacated and found["21.0"].now is None
    told = answer.to_json()
    assert (told["vacated"], told["hold_code"], told["hold_subcode"]) == (True, 13, -1004)


def test_what_vacates_taught_answers_for_them() -> None:
    again = {"proc": 0, "code": 40, "detail": 2}
    end = {"proc": 0, "code": 5, "return_value": 0}
    rows = [
        [*vacated(100 * k, k), again | {"cluster": k, "at": 100 * k + 30},
         end | {"cluster": k, "at": 100 * k + 60}]
        for k in range(1, 6)
    ]  # fmt: skip
    found = ask(history(*rows, vacated(1000, 20)), 1001)
    assert found["20.0"].now is not None and found["20.0"].now.probability > 0.6
    assert finding(found["20.0"], "same_cause")["succeeded"] == 5
    # It runs again: nothing is to be decided.
    running = again | {"cluster": 20, "at": 1030}
    assert ask(history(*rows, vacated(1000, 20), [running]), 1031) == {}


@pytest.mark.parametrize("code", [1005, 1007])
def test_a_vacate_has_the_code_of_the_log(code: int) -> None:
    answer = ask(history(vacated(10, 1, code, 0)), 11)["1.0"]
    assert (answer.hold_code, answer.hold_subcode, answer.vacated) == (code, 0, True)


def test_vacated_jobs_are_grouped_by_themselves_and_named_one_by_one() -> None:
    cause = (13, -1004, INPUT)
    jobs = [vacated(10, 1), held(10, 1, 1, cause), held(10, 1, 2, cause)]
    jobs += [[row | {"proc": proc} for row in vacated(11, 1)] for proc in (3, 4, 5, 6)]
    found = group_answers(
        list(ask(history(*jobs), 20, constant_model(0.3, delays={60.0: 0.9})).values())
    )
    assert sorted((len(group.members), group.members[0].vacated) for group in found) == [
        (2, False), (5, True),
    ]  # fmt: skip
    (group,) = (one for one in found if one.members[0].vacated)
    hold, wait = commands(group)
    assert hold is not None and wait is not None
    assert hold.endswith("condor_hold -name ap 1.0 1.3 1.4 1.5 1.6")
    assert "condor_release -name ap 1.0 1.3 1.4 1.5 1.6" in wait
