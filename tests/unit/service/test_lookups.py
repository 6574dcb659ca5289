import json
import sys
from pathlib import Path
from typing import Any

import pytest

from jobsight.documents import State, merge
from jobsight.errors import SourceError
from jobsight.service.lookups import CondorLookup
from jobsight.settings import CondorSettings

TOOL = """#!{python}
import json, sys
from pathlib import Path
here = Path(__file__).parent
with (here / "calls").open("a") as calls:
    calls.write(json.dumps([Path(sys.argv[0]).name, *sys.argv[1:]]) + "\\n")
answer = here / (Path(sys.argv[0]).name + ".answer")
sys.stdout.buffer.write(answer.read_bytes() if answer.exists() else b"")
trouble = here / "trouble"
if trouble.exists():
    sys.exit(trouble.read_text())
"""


class Tools:
    """condor_q and condor_history as programs that print what they are told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("condor_q", "condor_history"):
            (folder / name).write_text(TOOL.format(python=sys.executable))
            (folder / name).chmod(0o755)

    def answer(self, tool: str, ads: list[dict[str, Any]] | bytes) -> None:
        data = ads if isinstance(ads, bytes) else json.dumps(ads).encode()
        (self.folder / f"{tool}.answer").write_bytes(data)

    def calls(self) -> list[list[str]]:
        return [json.loads(line) for line in (self.folder / "calls").read_text().splitlines()]


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    return Tools(tmp_path)


def lookup(tools: Tools, **others: Any) -> CondorLookup:
    return CondorLookup("ap", CondorSettings(bin=tools.folder, timeout=10), **others)


def ad(cluster: int, proc: int, status: int, **others: Any) -> dict[str, Any]:
    return {
        "ClusterId": cluster, "ProcId": proc, "JobStatus": status, "QDate": 1_795_000_000,
        "JobStartDate": 1_795_000_100, "EnteredCurrentStatus": 1_795_000_200, "Owner": "ann",
        **others,
    }  # fmt: skip


def test_the_queue_is_asked_once_and_the_history_for_what_it_lacks(tools: Tools) -> None:
    tools.answer("condor_q", [ad(1, 0, 2), ad(5, 5, 2)])
    tools.answer("condor_history", [ad(2, 1, 4, ExitCode=3, ExitBySignal=False)])
    found = lookup(tools).collect(["1.0", "2.1", "3.0"])
    states = {one.id: merge(None, one).state for one in found}
    assert states == {"htcondor:ap:1.0": State.RUNNING, "htcondor:ap:2.1": State.FAILED}
    queue, history = tools.calls()
    assert queue == ["condor_q", "-allusers", "-json", "1.0", "2.1", "3.0"]
    assert history[0] == "condor_history"
    assert history[-3:] == ["-json", "2.1", "3.0"]
    assert history[history.index("-match") + 1] == "2"


def test_calls_do_not_grow_with_jobs(tools: Tools) -> None:
    asked = lookup(tools, schedd="far")
    asked.collect([f"{job}.0" for job in range(1, 2000)])
    assert len(tools.calls()) == 2
    assert tools.calls()[0][1:4] == ["-allusers", "-name", "far"]
    assert asked.calls() == {"condor_q": 1, "condor_history": 1, "ads_refused": 0}


def test_hostile_bytes_and_ads_of_nothing_are_borne(tools: Tools) -> None:
    tools.answer("condor_q", b'[{"ClusterId": 1, "ProcId": 0, "Cmd": "\xff\x1b[31m"}, {"x": 1}, 7]')
    asked = lookup(tools)
    (found,) = asked.collect(["1.0"])
    assert found.id == "htcondor:ap:1.0"
    assert asked.calls()["ads_refused"] == 1


@pytest.mark.parametrize(
    ("answer", "reason"), [(b"{", "no JSON"), (b'{"a": 1}', "no list"), (b"[" * 9000, "no JSON")]
)
def test_what_is_no_list_of_ads_is_one_clear_error(
    tools: Tools, answer: bytes, reason: str
) -> None:
    tools.answer("condor_q", answer)
    with pytest.raises(SourceError, match=reason):
        lookup(tools).collect(["1.0"])


def test_a_tool_that_fails_or_lacks_is_one_clear_error(tools: Tools, tmp_path: Path) -> None:
    (tools.folder / "trouble").write_text("Failed to connect to \x1b[1mschedd")
    with pytest.raises(SourceError, match=r"condor_q: Failed to connect to \[1mschedd"):
        lookup(tools).collect(["1.0"])
    (tools.folder / "condor_q").unlink()
    with pytest.raises(SourceError, match=r"condor_q is not in .* condor\.bin"):
        lookup(tools).collect(["1.0"])


def test_a_tool_that_hangs_is_stopped(tools: Tools) -> None:
    (tools.folder / "condor_q").write_text("#!/bin/sh\nexec sleep 60\n")
    asked = CondorLookup("ap", CondorSettings(bin=tools.folder, timeout=0.3))
    with pytest.raises(SourceError, match="no answer within"):
        asked.collect(["1.0"])


def test_where_there_are_no_tools_it_is_said_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceError, match=r"condor\.bin"):
        CondorLookup("ap", CondorSettings()).collect(["1.0"])
