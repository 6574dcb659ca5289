from pathlib import Path
from typing import Any

import pytest
from tests.support.limits import limit
from tests.unit.history.condor.condor_fakes import Tools

from jobsight.documents import State, merge
from jobsight.history.condor.client import CondorClient
from jobsight.service.notices.watching import CondorAsker
from jobsight.settings import CondorSettings


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    return Tools(tmp_path)


def asker(tools: Tools, **others: Any) -> CondorAsker:
    client = CondorClient(CondorSettings(bin=tools.folder, timeout=limit(10)), **others)
    return CondorAsker(client, "ap")


def ad(cluster: int, proc: int, status: int, **others: Any) -> dict[str, Any]:
    return {
        "ClusterId": cluster, "ProcId": proc, "JobStatus": status, "QDate": 1_795_000_000,
        "JobStartDate": 1_795_000_100, "EnteredCurrentStatus": 1_795_000_200, "Owner": "ann",
        **others,
    }  # fmt: skip


def test_the_queue_is_asked_once_and_the_history_for_what_it_lacks(tools: Tools) -> None:
    tools.answer("condor_q", [ad(1, 0, 2), ad(5, 5, 2)])
    tools.answer("condor_history", [ad(2, 1, 4, ExitCode=3, ExitBySignal=False)])
    found = asker(tools).collect(["1.0", "2.1", "3.0"])
    states = {one.id: merge(None, one).state for one in found}
    assert states == {"htcondor:ap:1.0": State.RUNNING, "htcondor:ap:2.1": State.FAILED}
    queue, history = tools.calls()
    assert queue == ["condor_q", "-allusers", "-json", "1.0", "2.1", "3.0"]
    assert history[0] == "condor_history"
    assert history[-3:] == ["-json", "2.1", "3.0"]
    assert history[history.index("-match") + 1] == "2"


def test_calls_do_not_grow_with_jobs(tools: Tools) -> None:
    asked = asker(tools, schedd="far")
    asked.collect([f"{job}.0" for job in range(1, 2000)])
    assert len(tools.calls()) == 2
    assert tools.calls()[0][1:4] == ["-allusers", "-name", "far"]
    assert asked.calls() == {"condor_q": 1, "condor_history": 1, "ads_refused": 0}


def test_hostile_bytes_and_ads_of_nothing_are_borne(tools: Tools) -> None:
    tools.answer("condor_q", b'[{"ClusterId": 1, "ProcId": 0, "Cmd": "\xff\x1b[31m"}, {"x": 1}, 7]')
    asked = asker(tools)
    (found,) = asked.collect(["1.0"])
    assert found.id == "htcondor:ap:1.0"
    assert asked.calls()["ads_refused"] == 1
