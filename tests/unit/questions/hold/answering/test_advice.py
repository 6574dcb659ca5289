import re

import pytest

from jobsight.ids import JobId
from jobsight.questions.hold.answering.advice import Advice, Group, advise, by_hand
from jobsight.questions.hold.answering.mending import Mend
from jobsight.questions.hold.answering.verdict import Chance, Verb, Verdict

JOB = JobId(12, 3)
MEND = Mend("memory", "set RequestMemory to 256 MB", ("RequestMemory", 256))


def advice(
    verb: Verb, mend: Mend | None = None, group: Group | None = None, *, alike: int = 1
) -> Advice:
    best = Chance(90.0 if verb == "wait" else 0.0, 0.5, 0.4, 0.6)
    return advise(
        Verdict(verb, best, 0.0),
        mend,
        group or Group([JOB]),
        moment=0,
        alike=[JobId(12, proc) for proc in range(alike)],
    )


def test_commands() -> None:
    assert advice("release").command == "condor_release 12.3"
    assert advice("remove").command == "condor_rm 12.3"
    assert (
        advice("fix", MEND).command == "condor_qedit 12.3 RequestMemory 256 && condor_release 12.3"
    )
    assert advice("fix", Mend("input", "supply x")).command == "condor_release 12.3"
    assert advice("unsure").command is None


def test_wait_says_until_when() -> None:
    found = advice("wait")
    assert found.text == "wait 1.5 min, until 1970-01-01 00:01:30Z, then release it"
    assert found.command == "condor_release 12.3"


def test_a_wait_beyond_the_calendar_is_told_all_the_same() -> None:
    best = Chance(1e12, 0.5, 0.4, 0.6)
    end = 253_402_300_799_000_000
    found = advise(Verdict("wait", best, 0.0), None, Group([JOB]), moment=end, alike=[JOB])
    assert "until 9999-12-31" in found.text


def test_a_trial_where_many_wait_alike() -> None:
    assert advice("unsure", alike=4).command is None
    found = advice("unsure", MEND, alike=5)
    assert found.command == "condor_release 12.0 12.1 12.2"
    assert "set RequestMemory" in found.text
    assert "5 jobs wait alike" in found.text


def test_a_release_names_the_mend_as_well() -> None:
    assert "set RequestMemory" in advice("release", MEND).text


MANY = [JobId(12, proc) for proc in range(5)]


def test_a_removal_never_names_a_whole_cluster() -> None:
    where = "'ClusterId == 12 && JobStatus == 5 && HoldReasonCode == 13 && HoldReasonSubCode == 2'"
    assert advice("remove", group=Group(MANY, (13, 2))).command == f"condor_rm -constraint {where}"
    assert advice("remove", group=Group(MANY)).command == "condor_rm 12.0 12.1 12.2 12.3 12.4"


def test_edits_of_several_jobs_take_a_constraint() -> None:
    found = advice("fix", MEND, Group(MANY[:2])).command
    assert found is not None
    edit = "condor_qedit -constraint 'ClusterId == 12 && (ProcId == 0 || ProcId == 1)'"
    assert found.startswith(f"{edit} RequestMemory 256 && condor_release 12.0 12.1")


@pytest.mark.parametrize("verb", ["release", "wait", "fix", "remove", "unsure"])
def test_no_text_of_a_log_in_a_command(verb: Verb) -> None:
    hostile = Mend("input", "input $(rm -rf ~); `x` is missing", MEND.edit)
    command = advice(verb, hostile, alike=9).command or ""
    assert re.fullmatch(r"[A-Za-z0-9_. &]*", command)


@pytest.mark.parametrize(
    ("code", "said"), [(1, "user"), (15, "on hold"), (None, "no hold code"), (1000, "1000")]
)
def test_holds_by_hand(code: int | None, said: str) -> None:
    assert said in by_hand(code).text
    assert by_hand(code).command is None
