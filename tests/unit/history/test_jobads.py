"""HTCondor's job attributes as fields of documents."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsight.documents import State, decode, encode, merge
from jobsight.errors import DocumentError
from jobsight.history.jobads import LONGEST_TEXT, document_from_ad, sections

SECOND = 1_000_000
ID = {"ClusterId": 12, "ProcId": 3}


def done(**more: object) -> dict[str, object]:
    return {
        **ID,
        "GlobalJobId": "ap1.example.org#12.3#1795223111",
        "JobStatus": 4,
        "QDate": 1795223111,
        "JobStartDate": 1795223120,
        "JobCurrentStartDate": 1795223140,
        "CompletionDate": 1795223200,
        "EnteredCurrentStatus": 1795223200,
        "ExitBySignal": False,
        "ExitCode": 0,
        **more,
    }


def test_every_listed_attribute_reaches_its_field() -> None:
    found = sections(
        {
            "RequestMemory": 64,
            "RequestCpus": 2,
            "RequestDisk": 10241,
            "RequestGPUs": 1,
            "Owner": "u01",
            "Cmd": "/bin/sleep",
            "Args": "10",
            "Iwd": "/home/u01",
            "QDate": 5,
            "AcctGroup": "group_a",
            "ProjectName": "P",
            "DAGManJobId": 7,
            "DAGNodeName": "A",
            "RemoteWallClockTime": 10.5,
            "RemoteUserCpu": 3,
            "RemoteSysCpu": 1.5,
            "ResidentSetSize": 2049,
            "LastRemoteHost": "slot1@x",
            "NumJobStarts": 2,
            "NumHolds": 1,
        }
    )
    assert found.request == {
        "memory_mb": 64,
        "cpus": 2,
        "disk_mb": 11,
        "gpus": 1,
        "account": "group_a",
    }
    assert found.submission == {
        "user": "u01",
        "name": "sleep",
        "command": "/bin/sleep",
        "arguments": "10",
        "directory": "/home/u01",
        "submitted": 5 * SECOND,
        "project": "P",
        "dag": "7:A",
    }
    assert found.usage == {
        "wall_s": 10.5,
        "cpu_s": 4.5,
        "memory_mb": 3,
        "hosts": "slot1@x",
        "starts": 2,
        "holds": 1,
    }


def test_cpu_time_is_of_all_runs_as_the_wall_time_is() -> None:
    used = sections(
        {
            "RemoteSysCpu": 1.0, "RemoteUserCpu": 2.0, "CumulativeRemoteSysCpu": 10.0,
            "CumulativeRemoteUserCpu": 20.0, "CpusUsage": 0.97, "GPUsAverageUsage": 0.5,
            "GPUsMemoryUsage": 812,
        }
    ).usage  # fmt: skip
    assert used == {"cpu_s": 30.0, "task_cpus": 0.97, "gpus_busy": 0.5, "gpu_memory_mb": 812}


def test_names_have_no_case_and_expressions_are_no_numbers() -> None:
    assert sections({"requestmemory": 5}).request == {"memory_mb": 5}
    found = sections(
        {
            "RequestMemory": "/Expr(ifThenElse(a, 1, 2))/",
            "Requirements": "/Expr(Arch == 1)/",
            "MemoryUsage": "/Expr(((ResidentSetSize + 1023) / 1024))/",
            "ImageSize": 5000,
        }
    )
    assert found == ({"constraints": "Arch == 1"}, {}, {"memory_mb": 5})


def test_values_without_sense_are_left_out() -> None:
    found = sections(
        {"RequestCpus": -1, "RequestMemory": True, "QDate": 0, "Owner": 3, "RequestDisk": 2**70}
    )
    assert found == ({}, {}, {})
    assert len(sections({"Args": "x" * 10**6}).submission["arguments"]) == LONGEST_TEXT


@pytest.mark.parametrize("ad", [{"JobBatchName": "night"}, {"Cmd": "/a/b/night"}])
def test_a_job_without_a_batch_name_is_called_as_its_command(ad: dict[str, object]) -> None:
    assert sections(ad).submission["name"] == "night"
    assert sections({"Cmd": "/a/b/job.sh"} | ad).submission["name"] == "night"


def test_a_job_that_ended() -> None:
    document = merge(None, document_from_ad(done(), None))
    assert document.id == "htcondor:ap1.example.org:12.3"
    assert document.state is State.COMPLETED
    assert [event.code for event in document.timeline] == [0, 1, 1, 5]
    assert document.outcome is not None
    assert document.outcome.ended == document.updated == 1795223200 * SECOND
    assert document.submission.array == "12"


@pytest.mark.parametrize(
    ("told", "state"),
    [
        ({"ExitCode": 1}, State.FAILED),
        ({"ExitBySignal": True, "ExitSignal": 9}, State.FAILED),
        ({"JobStatus": 3, "RemoveReason": "via condor_rm"}, State.CANCELLED),
        (
            {
                "JobStatus": 3,
                "RemoveReason": "The job attribute PeriodicRemove expression 'NumHolds > "
                "3' evaluated to TRUE",
            },
            State.FAILED,
        ),
        ({"JobStatus": 3, "LastJobStatus": 4}, State.COMPLETED),
        ({"JobStatus": 3, "LastJobStatus": 4, "ExitCode": 2}, State.FAILED),
        ({"JobStatus": 5, "HoldReasonCode": 13, "HoldReasonSubCode": 2}, State.HELD),
        ({"JobStatus": 1}, State.PENDING),
        ({"JobStatus": 2}, State.RUNNING),
        ({"JobStatus": 7}, State.SUSPENDED),
        ({"JobStatus": 99}, State.RUNNING),
    ],
)
def test_status_becomes_the_state(told: dict[str, object], state: State) -> None:
    assert merge(None, document_from_ad(done(**told), "ap")).state is state


def test_a_hold_tells_its_codes_and_reason() -> None:
    held = done(JobStatus=5, HoldReasonCode=13, HoldReasonSubCode=256, HoldReason="no file")
    last = document_from_ad(held, "ap").timeline[-1]
    assert (last.code, last.hold_code, last.hold_subcode, last.reason) == (12, 13, 256, "no file")


def test_what_an_ad_must_have() -> None:
    with pytest.raises(DocumentError, match="ClusterId"):
        document_from_ad({"ProcId": 1}, "ap")
    with pytest.raises(DocumentError, match="set access_point"):
        document_from_ad(ID, None)
    for number in ("ClusterId", "ProcId"):  # HTCondor's have 31 bits
        with pytest.raises(DocumentError, match="ClusterId"):
            document_from_ad(ID | {number: 2**31}, "ap")
    assert document_from_ad(ID, "ap").timeline == ()


_VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text())
_NAMES = st.sampled_from([*done(), "RemoveReason", "RemoteUserCpu", "RequestMemory", "Cmd"])


@given(st.dictionaries(_NAMES, _VALUES))
def test_any_ad_gives_a_sound_document_or_one_error(ad: dict[str, object]) -> None:
    try:
        document = document_from_ad(ad, "ap")
    except DocumentError:
        return
    merged = merge(None, document)
    try:
        assert decode(encode(merged)) == merged
    except DocumentError as error:
        assert "cannot be written" in str(error)


def test_a_job_that_is_held_in_the_second_of_its_start_is_held() -> None:
    again = done(JobStatus=5, EnteredCurrentStatus=1795223140, CompletionDate=0, HoldReasonCode=6)
    document = document_from_ad(again, "ap", source="condor_q")
    assert merge(None, document).state is State.HELD
    assert merge(merge(None, document), document).state is State.HELD


WAITS = {"JobStatus": 1, "EnteredCurrentStatus": 1795223150}


@pytest.mark.parametrize(
    ("told", "code", "reason"),
    [
        ({"LastJobStatus": 5, "ReleaseReason": "via condor_release"}, 13, "via condor_release"),
        ({"LastJobStatus": 5, "LastVacateTime": 1795223150}, 13, None),
        ({"LastJobStatus": 2, "LastVacateTime": 1795223149, "VacateReason": "x"}, 4, "x"),
        ({"LastJobStatus": 2, "LastVacateTime": 1795223130}, None, None),
        ({}, None, None),
    ],
)
def test_why_a_job_waits_again(told: dict[str, object], code: int | None, reason: object) -> None:
    last = document_from_ad(done(**WAITS, **told), "ap").timeline[-1]
    assert (last.code, last.reason, last.state) == (code, reason, State.PENDING)


def test_a_hold_and_a_release_have_the_ad_where_it_is_asked_for() -> None:
    more = {
        "RequestMemory": 64,
        "PeriodicHold": False,
        "Nested": {"a": 1},
        "ServerTime": 1795223300,
    }
    for changed in ({"JobStatus": 5}, WAITS | {"LastJobStatus": 5}):
        ad = done(**more, **changed)
        known = document_from_ad(ad, "ap", with_ad=True).timeline[-1].attributes
        found = json.loads(known or "")
        assert (found["RequestMemory"], found["PeriodicHold"]) == (64, "false")
        assert not {"Nested", "ServerTime"} & set(found)
        assert document_from_ad(ad, "ap").timeline[-1].attributes is None
    assert document_from_ad(done(), "ap", with_ad=True).timeline[-1].attributes is None
