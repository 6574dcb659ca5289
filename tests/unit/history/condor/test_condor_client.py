import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.limits import limit
from tests.unit.history.condor.condor_fakes import Tools

from jobsight.errors import SourceError
from jobsight.history.condor.client import CondorClient
from jobsight.settings import CondorSettings


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    return Tools(tmp_path)


def client(tools: Tools, **others: Any) -> CondorClient:
    return CondorClient(CondorSettings(bin=tools.folder, timeout=limit(10)), **others)


def test_queue_and_history_are_asked_in_one_call_each(tools: Tools) -> None:
    tools.answer("condor_q", [{"ClusterId": 1}])
    asked = client(tools, schedd="far")
    assert asked.queue(["2.0", "1.0"]) == [{"ClusterId": 1}]
    assert asked.history(["3.0"]) == []
    queue, history = tools.calls()
    assert queue == ["condor_q", "-allusers", "-name", "far", "-json", "1.0", "2.0"]
    assert history[:4] == ["condor_history", "-name", "far", "-match"]
    assert asked.calls == {"condor_q": 1, "condor_history": 1}


def test_held_jobs_and_those_that_wait_after_a_vacate(tools: Tools) -> None:
    held, vacated = (
        {"ClusterId": 1, "ProcId": 0, "JobStatus": 5},
        {"ClusterId": 2, "ProcId": 0, "JobStatus": 1, "VacateReasonCode": 13},
    )
    running = {**vacated, "ProcId": 1, "JobStatus": 2}
    idle = {"ClusterId": 3, "ProcId": 0, "JobStatus": 1, "VacateReasonCode": 0}
    tools.answer("condor_q", [held, vacated, running, idle])
    assert client(tools).held([]) == [held, vacated]
    assert client(tools).held(["2.0"]) == [held, vacated]
    everything, vacates, named = tools.calls()
    constraints = [words[words.index("-constraint") + 1] for words in (everything, vacates)]
    assert constraints == ["JobStatus == 5", "JobStatus == 1 && VacateReasonCode > 1"]
    assert "-constraint" not in named


def test_an_analysis_is_a_bounded_number_of_lines_that_are_safe_to_show(tools: Tools) -> None:
    lines = b"".join(b"line %d \x1b[2J\n\n" % number for number in range(100))
    tools.answer("condor_q", lines)
    found = client(tools, schedd="far").analysis("12.0")
    assert len(found) == 30 and found[-1] == "line 99 [2J"
    assert tools.calls() == [["condor_q", "-name", "far", "-better-analyze", "12.0"]]


def test_a_setting_is_one_line_or_none(tools: Tools) -> None:
    tools.answer("condor_config_val", b"/var/log/condor/EventLog\n")
    assert client(tools).setting("EVENT_LOG") == "/var/log/condor/EventLog"
    tools.answer("condor_config_val", b"one\ntwo\n")
    assert client(tools).setting("EVENT_LOG") is None
    (tools.folder / "trouble").write_text("Not defined: EVENT_LOG")
    assert client(tools).setting("EVENT_LOG") is None


def test_where_the_tool_lacks_nothing_is_set(tools: Tools) -> None:
    (tools.folder / "condor_config_val").unlink()
    assert not client(tools).has("condor_config_val")
    assert client(tools).setting("EVENT_LOG") is None


def test_tools_learn_no_secrets_of_ours_but_their_configuration(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOBSIGHT_STORE_PASSWORD", "hunter2")
    settings = CondorSettings(bin=tools.folder, timeout=limit(10), config=Path("/etc/ours"))
    CondorClient(settings).queue(["1.0"])
    told = json.loads((tools.folder / "environment").read_text())
    assert "JOBSIGHT_STORE_PASSWORD" not in told
    assert told["CONDOR_CONFIG"] == "/etc/ours"


@pytest.mark.parametrize(
    ("answer", "reason"), [(b"{", "no JSON"), (b'{"a": 1}', "no list"), (b"[" * 9000, "no JSON")]
)
def test_what_is_no_list_of_ads_is_one_clear_error(
    tools: Tools, answer: bytes, reason: str
) -> None:
    tools.answer("condor_q", answer)
    with pytest.raises(SourceError, match=reason):
        client(tools).queue(["1.0"])


def test_a_tool_that_fails_or_lacks_is_one_clear_error(tools: Tools, tmp_path: Path) -> None:
    (tools.folder / "trouble").write_text("Failed to connect to \x1b[1mschedd")
    with pytest.raises(SourceError, match=r"condor_q: Failed to connect to \[1mschedd"):
        client(tools).queue(["1.0"])
    (tools.folder / "condor_q").unlink()
    with pytest.raises(SourceError, match=r"condor_q is not in .* condor\.bin"):
        client(tools).queue(["1.0"])


def test_the_largest_slot_is_that_of_all_in_each_resource(tools: Tools) -> None:
    assert client(tools).largest_slot() == {}
    (tools.folder / "condor_q").rename(tools.folder / "condor_status")
    assert client(tools).largest_slot() == {}
    dynamic = b"100 16000 5 90000000.0 0 8 0 2"
    static = b"32000 undefined 7 undefined 4 undefined undefined undefined"
    rest = [b"odd", b"x 1 1 1 1 1 1 error", b""]
    tools.answer("condor_status", b"\n".join([dynamic, static, *rest]))
    assert client(tools).largest_slot() == {
        "RequestMemory": 32000.0, "RequestDisk": 90000000.0, "RequestCpus": 8.0, "RequestGPUs": 2.0,
    }  # fmt: skip
    (tools.folder / "condor_status").write_text("#!/bin/sh\nexec sleep 60\n")
    assert CondorClient(CondorSettings(bin=tools.folder, timeout=0.3)).largest_slot() == {}


def test_a_tool_that_hangs_is_stopped(tools: Tools) -> None:
    (tools.folder / "condor_q").write_text("#!/bin/sh\nexec sleep 60\n")
    asked = CondorClient(CondorSettings(bin=tools.folder, timeout=0.3))
    with pytest.raises(SourceError, match="no answer within"):
        asked.queue(["1.0"])


def test_where_there_are_no_tools_it_is_said_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceError, match=r"condor\.bin"):
        CondorClient(CondorSettings()).history(["1.0"])


CONFIGURED = """#!/bin/sh
case $1 in
    SCHEDD_DAEMON_AD_FILE) [ -n "{file}" ] && echo "{file}" ;;
    SCHEDD_NAME) [ -n "{name}" ] && echo "{name}" ;;
    FULL_HOSTNAME) echo host.example.org ;;
    *) false ;;
esac
"""


def configured(tools: Tools, *, file: Path | str = "", name: str = "") -> CondorClient:
    """HTCondor's configuration has these settings, and a host."""
    tool = tools.folder / "condor_config_val"
    tool.write_text(CONFIGURED.format(file=file, name=name))
    return client(tools)


@pytest.mark.parametrize("name", ["", "submit2"])
def test_a_schedd_has_the_name_that_it_wrote(tools: Tools, tmp_path: Path, name: str) -> None:
    file = tmp_path / ".schedd_classad"
    file.write_text('Machine = "host"\nMyName = "a"\nName = "submit2@host.example.org"\nX = 1\n')
    assert configured(tools, file=file, name=name).schedd_name() == "submit2@host.example.org"


@pytest.mark.parametrize("text", [None, "", 'Name = "\n', 'Name = "a\\"b"\n', "Name = 7\n"])
def test_a_schedd_that_wrote_no_name_has_its_hosts_unless_it_is_set(
    tools: Tools, tmp_path: Path, text: str | None
) -> None:
    file = tmp_path / ".schedd_classad"
    if text is not None:
        file.write_text(text)
    assert configured(tools, file=file).schedd_name() == "host.example.org"
    assert configured(tools).schedd_name() == "host.example.org"
    with pytest.raises(SourceError, match=r"schedd_classad.* cannot be read; set access_point"):
        configured(tools, file=file, name="submit2").schedd_name()


def test_behind_a_prefix_files_are_others(tools: Tools, tmp_path: Path) -> None:
    file = tmp_path / ".schedd_classad"
    file.write_text('Name = "here"\n')
    configured(tools, file=file)
    settings = CondorSettings(bin=tools.folder, timeout=limit(10), prefix=("env",))
    assert CondorClient(settings).schedd_name() == "host.example.org"


def test_without_tools_a_schedd_has_no_name(tools: Tools) -> None:
    (tools.folder / "condor_config_val").unlink()
    assert client(tools).schedd_name() is None
