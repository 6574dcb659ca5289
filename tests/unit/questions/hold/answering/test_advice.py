import re
import subprocess

import pytest

from jobsight.ids import JobId
from jobsight.questions.hold.answering.advice import (
    Advice,
    Group,
    Schedd,
    Tried,
    advise,
    by_hand,
)
from jobsight.questions.hold.answering.fixes import Fix
from jobsight.questions.hold.answering.verdict import Chance, Verb, Verdict

JOB = JobId(12, 3)
FIX = Fix("memory", "set RequestMemory to 256 MB", ("RequestMemory", 256))


def advice(
    verb: Verb, fix: Fix | None = None, group: Group | None = None, *, alike: int = 1
) -> Advice:
    best = Chance(90.0 if verb == "wait" else 0.0, 0.5, 0.4, 0.6)
    return advise(
        Verdict(verb, best, 0.0),
        fix,
        group or Group([JOB]),
        moment=0,
        alike=[JobId(12, proc) for proc in range(alike)],
    )


def commands(found: Advice) -> list[str | None]:
    return [step.command for step in found.steps]


def test_commands() -> None:
    assert commands(advice("release")) == ["condor_release 12.3"]
    assert commands(advice("remove")) == ["condor_rm 12.3"]
    assert commands(advice("unsure")) == ["condor_release 12.3"]


def test_a_fix_comes_before_its_release() -> None:
    edit, release = advice("fix", FIX).steps
    assert (edit.text, edit.command) == (FIX.text, "condor_qedit 12.3 RequestMemory 256")
    assert (release.text, release.command) == ("then release it", "condor_release 12.3")
    assert [
        (step.text, step.command) for step in advice("fix", Fix("input", "supply x")).steps
    ] == [
        ("supply x", None),
        ("then release it", "condor_release 12.3"),
    ]


def test_wait_says_until_when_and_its_command_waits() -> None:
    (found,) = advice("wait").steps
    assert found.text == (
        "wait 1.5 min, until 1970-01-01 00:01:30Z, then release it: 50 % (40–60 %) to succeed then"
    )
    # The next whole minute: `at` knows no seconds.
    assert found.command == 'echo "condor_release 12.3" | TZ=UTC at -t 197001010002'


def test_a_site_that_alone_holds_runs_is_kept_off_before_the_release() -> None:
    group = Group([JOB], schedd=Schedd("-name ap"), avoid=["mwt2", "chtc.wisc.edu"])
    elsewhere, release = advice("release", group=group).steps
    assert elsewhere.text.startswith("keep it off mwt2 and chtc.wisc.edu")
    assert release.command == "condor_release -name ap 12.3"
    tools = (
        "condor_q() { echo '(Memory > 1) && (Arch == \"X86_64\")'; }\n"
        "condor_qedit() { printf '%s\\n' \"$@\"; }\n"
    )
    ran = subprocess.run(
        ["bash", "-c", tools + str(elsewhere.command)], capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines() == [
        "-name", "ap", "12.3", "Requirements",
        '((Memory > 1) && (Arch == "X86_64")) && !stringListIMember(TARGET.GLIDEIN_Site ?: "", '
        '"mwt2,chtc.wisc.edu") && !regexp("[@.](mwt2|chtc[.]wisc[.]edu)(@|$)", TARGET.Name, "i")',
    ]  # fmt: skip
    for odd in ("a'b", "$(x)", "a b", "Ä"):
        assert len(advice("release", group=Group([JOB], avoid=["mwt2", odd])).steps) == 1


def test_a_wait_beyond_the_calendar_is_given_all_the_same() -> None:
    best = Chance(1e12, 0.5, 0.4, 0.6)
    end = 253_402_300_799_000_000
    found = advise(Verdict("wait", best, 0.0), None, Group([JOB]), moment=end, alike=[JOB])
    assert "until 9999-12-31" in found.steps[0].text
    assert (found.steps[0].command or "").endswith(" at -t 999912312359")


def test_a_trial_where_many_wait_alike() -> None:
    assert commands(advice("unsure", alike=4)) == ["condor_release 12.3"]
    found = advice("unsure", alike=5)
    assert commands(found) == ["condor_release 12.0 12.1 12.2"]
    assert "5 jobs wait alike" in found.steps[0].text


def test_a_trial_is_made_with_the_fix_that_is_known() -> None:
    alike = [JobId(12, proc) for proc in range(5)]
    verdict = Verdict("unsure", None, 0.0)
    edit, release = advise(verdict, FIX, Group(alike), moment=0, alike=alike).steps
    assert edit.text == FIX.text
    assert edit.command == (
        "condor_qedit -constraint 'ClusterId == 12 && "
        "(ProcId == 0 || ProcId == 1 || ProcId == 2)' RequestMemory 256"
    )
    assert release.command == "condor_release 12.0 12.1 12.2"
    # The figure is for the job asked about: others may have asked for more.
    for count in (1, 5):
        assert commands(advice("unsure", FIX, alike=count)) == [
            "condor_qedit 12.3 RequestMemory 256",
            "condor_release 12.3",
        ]


def test_a_release_names_the_mend_as_well() -> None:
    assert "set RequestMemory" in advice("release", FIX).steps[0].text


def test_a_release_against_the_odds_says_why() -> None:
    verdict = Verdict("release", Chance(0.0, 0.3, 0.2, 0.4), 0.5, "it probably fails again")
    found = advise(verdict, None, Group([JOB]), moment=0, alike=[JOB])
    assert found.steps[0].text == "release it as it is: it probably fails again"
    later = Verdict("wait", Chance(90.0, 0.3, 0.2, 0.4), 0.5, "it probably fails again")
    found = advise(later, None, Group([JOB]), moment=0, alike=[JOB])
    assert found.steps[0].text.endswith("to succeed then; it probably fails again")


MANY = [JobId(12, proc) for proc in range(5)]


def test_a_removal_never_names_a_whole_cluster() -> None:
    where = "'ClusterId == 12 && JobStatus == 5 && HoldReasonCode == 13 && HoldReasonSubCode == 2'"
    assert commands(advice("remove", group=Group(MANY, (13, 2)))) == [
        f"condor_rm -constraint {where}"
    ]
    assert commands(advice("remove", group=Group(MANY))) == ["condor_rm 12.0 12.1 12.2 12.3 12.4"]


def test_edits_of_several_jobs_take_a_constraint() -> None:
    edit = "condor_qedit -constraint 'ClusterId == 12 && (ProcId == 0 || ProcId == 1)'"
    assert commands(advice("fix", FIX, Group(MANY[:2]))) == [
        f"{edit} RequestMemory 256",
        "condor_release 12.0 12.1",
    ]


def addressed(access_point: str | None, *others: str, here: str | None = None) -> Group:
    among = {*others, *([access_point] if access_point else [])}
    return Group([JOB], schedd=Schedd.of(access_point, among=among, here=here))


def test_commands_name_the_schedd() -> None:
    group = addressed("submit@ap1.example.org", "ap2")
    assert commands(advice("fix", FIX, group)) == [
        "condor_qedit -name submit@ap1.example.org 12.3 RequestMemory 256",
        "condor_release -name submit@ap1.example.org 12.3",
    ]
    assert commands(advice("remove", group=group)) == [
        "condor_rm -name submit@ap1.example.org 12.3"
    ]
    (wait,) = commands(advice("wait", group=group))
    assert wait is not None
    assert wait.startswith('echo "condor_release -name submit@ap1.example.org 12.3" | ')
    (trial,) = commands(advice("unsure", group=group, alike=5))
    assert trial == "condor_release -name submit@ap1.example.org 12.0 12.1 12.2"


def test_this_machines_own_schedd_is_not_named_where_it_is_the_only_one() -> None:
    plain = ["condor_release 12.3"]
    assert commands(advice("release", group=addressed("AP1", here="ap1"))) == plain
    named = ["condor_release -name ap1 12.3"]
    assert commands(advice("release", group=addressed("ap1", here=None))) == named
    assert commands(advice("release", group=addressed("ap1", here="ap2"))) == named
    assert commands(advice("release", group=addressed("ap1", "ap2", here="ap1"))) == named


@pytest.mark.parametrize(
    "name",
    ["ap1; rm -rf ~", "$(id)", "`id`", "ap1'", "-constraint", "", "a b", "ap\n1", "é", "10.0.0.1",
     "::1", "x" * 300],
)  # fmt: skip
def test_a_name_that_is_not_plain_gives_no_command_but_the_reason(name: str) -> None:
    for verb in ("release", "wait", "fix", "remove"):
        found = advice(verb, FIX, addressed(name, "ap2"))
        assert set(commands(found)) == {None}
        assert "no command is given: the log has " in found.steps[-1].text
        assert found.steps[-1].text.isprintable()


def test_an_access_point_without_a_name() -> None:
    (only,) = advice("release", group=addressed(None)).steps
    assert only.command == "condor_release 12.3"
    assert "the access point of the log, which does not name it" in only.text
    (among,) = advice("release", group=addressed(None, "ap2")).steps
    assert among.command is None
    assert "set access_point" in among.text


@pytest.mark.parametrize("verb", ["release", "wait", "fix", "remove", "unsure"])
def test_no_text_of_a_log_in_a_command(verb: Verb) -> None:
    hostile = Fix("input", "input $(rm -rf ~); `x` is missing", FIX.edit)
    for command in commands(advice(verb, hostile, alike=9)):
        assert re.fullmatch(r"[A-Za-z0-9_. &|=()'\"-]*", command or "")


@pytest.mark.parametrize(
    ("code", "reason", "owner", "said", "releases"),
    [
        (1, "via condor_hold (by user ann)", "ann", "its user holds it", False),
        (1, "via condor_hold (by user ann)", None, "its user holds it", False),
        (1, "via condor_hold (by user ann@example.org)", "ann", "its user holds it", False),
        (1, "", "ann", "its user holds it", False),
        (1, "via condor_hold (by user condor)", "ann", "condor holds it, not its owner", False),
        (1, "too many jobs (by user condor)", None, "condor holds it, not its owner", False),
        (1, "via condor_hold (by user bob)", "ann", "bob holds it, not its owner", False),
        (15, "", "ann", "submitted on hold", True),
        (16, "", "ann", "spooled", False),
        (None, "disk \x1b full", "ann", "no hold code", True),
        (0, "grid manager: denied", "ann", "grid manager: denied", True),
    ],
)
def test_holds_by_hand(
    code: int | None, reason: str, owner: str | None, said: str, releases: bool
) -> None:
    found = by_hand(code, reason, owner, Group([JOB]))
    assert said in found.steps[0].text
    assert found.steps[0].text.isprintable()
    assert commands(found)[-1] == ("condor_release 12.3" if releases else None)


@pytest.mark.parametrize("code", [0, None])
def test_words_say_what_to_fix_where_there_is_no_code(code: int | None) -> None:
    step, release = by_hand(code, "denied", "ann", Group([JOB]), FIX).steps
    assert FIX.text in step.text
    assert release.command == "condor_release 12.3"


BROKEN = Fix("node", "the machine is broken", certain=False, machine="wn51.example.org")


@pytest.mark.parametrize("verb", ["fix", "unsure", "release"])
def test_a_broken_machine_is_left_out_by_its_requirements(verb: Verb) -> None:
    group = Group([JOB], leave=["wn51.example.org", "wn52"])
    steps = advice(verb, BROKEN, group=group).steps
    off = next(step for step in steps if "keep it off" in step.text)
    assert "wn51.example.org and wn52" in off.text
    assert off.command == (
        'condor_qedit 12.3 Requirements "($(condor_q 12.3 -af:r Requirements))"\''
        ' && TARGET.Machine =!= "wn51.example.org" && TARGET.Machine =!= "wn52"\''
    )
    assert steps[-1].command == "condor_release 12.3"


@pytest.mark.parametrize(
    "leave", [["a' && rm -rf ~ '"], ['x"'], ["-x"], ["\x1b[31m"], [f"wn{k}" for k in range(6)]]
)
def test_odd_or_many_machines_are_in_no_command(leave: list[str]) -> None:
    assert Group([JOB], leave=leave).elsewhere() == []


def test_a_failure_of_the_network_is_released_in_one_step() -> None:
    fix = Fix("network", "a server did not answer: release it", certain=False, passing=True)
    (step,) = unsure(Tried(), fix).steps
    assert step.command == "condor_release 12.3"
    assert step.text.startswith(fix.text)
    (trial,) = unsure(Tried(), fix, alike=9).steps
    assert "as a trial" in trial.text
    assert fix.text not in advice("release", fix).steps[0].text


def unsure(tried: Tried, fix: Fix | None = None, *, alike: int = 1, unseen: bool = False) -> Advice:
    return advise(
        Verdict("unsure", None, 0.0),
        fix,
        Group([JOB]),
        moment=0,
        alike=[JobId(12, proc) for proc in range(alike)],
        tried=tried,
        unseen_policy=unseen,
        reason="path \x1b[31mnot there",
    )


@pytest.mark.parametrize("alike", [1, 9])
def test_what_failed_each_time_is_not_tried_again(alike: int) -> None:
    (step,) = unsure(Tried(alike=3), alike=alike).steps
    assert step.command is None
    assert step.text.startswith("3 releases with this cause failed, and none succeeded")
    assert "path [31mnot there" in step.text
    assert step.text.isprintable()
    edit, release = unsure(Tried(alike=3), FIX, alike=alike).steps
    assert FIX.text in edit.text
    assert release.text == "then release it"


def test_one_job_alone_is_released_once_to_see() -> None:
    (step,) = unsure(Tried()).steps
    assert step.command == "condor_release 12.3"
    assert "release it once and see" in step.text
    (again,) = unsure(Tried(own=1, alike=1)).steps
    assert again.command is None
    assert "released for this cause 1 time and held again" in again.text


def test_an_unknown_policy_of_its_own_is_to_be_seen_first() -> None:
    see, release = unsure(Tried(), unseen=True).steps
    assert see.command == "condor_q 12.3 -af:ln PeriodicHold OnExitHold PeriodicRemove"
    assert release.command == "condor_release 12.3"


def test_a_policy_may_be_switched_off_instead() -> None:
    fix, off, release = advice("fix", Fix("program", "fix it", policy="OnExitHold")).steps
    assert (fix.text, fix.command) == ("fix it", None)
    assert off.command == "condor_qedit 12.3 OnExitHold false"
    assert release.command == "condor_release 12.3"


VACATED = Group([JOB], vacated=True)


def test_a_vacated_job_runs_again_by_itself() -> None:
    (run,) = advice("release", FIX, VACATED).steps
    assert run.command is None
    assert run.text.startswith("let it run again as it is; HTCondor starts it by itself")
    assert "released" not in run.text
    assert commands(advice("remove", group=VACATED)) == ["condor_rm 12.3"]
    (see,) = advice("unsure", group=VACATED).steps
    assert see.command is None and "run again by itself and see" in see.text
    passing = Fix("network", "a server did not answer", certain=False, passing=True)
    assert advice("unsure", passing, VACATED).steps == [see]
    elsewhere, run = advice("release", group=Group([JOB], avoid=["mwt2"], vacated=True)).steps
    assert elsewhere.command is not None and elsewhere.command.startswith("condor_qedit 12.3 Requ")
    assert run.command is None


def test_a_vacated_job_is_held_while_something_is_to_be_done() -> None:
    wait = 'echo "condor_release 12.3" | TZ=UTC at -t 197001010002'
    assert commands(advice("wait", group=VACATED)) == ["condor_hold 12.3", wait]
    edit = "condor_qedit 12.3 RequestMemory 256"
    assert commands(advice("fix", FIX, VACATED)) == [
        "condor_hold 12.3",
        edit,
        "condor_release 12.3",
    ]


def test_a_vacated_job_whose_runs_all_failed_is_held() -> None:
    verdict = Verdict("unsure", None, 0.0)
    (hold,) = advise(
        verdict, None, VACATED, moment=0, alike=[JOB], tried=Tried(2, 4), reason="no plug-in"
    ).steps
    assert hold.command == "condor_hold 12.3"
    assert "4 runs after this cause failed" in hold.text and '"no plug-in"' in hold.text
