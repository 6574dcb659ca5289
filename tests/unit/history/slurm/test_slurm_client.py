"""The client: how commands are run, bounded and counted, their errors, the cluster's name."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from tests.support.limits import limit

from jobsight.commands import run_command
from jobsight.errors import SourceError
from jobsight.history.slurm.client import FailureKind, SlurmClient, SlurmError, classify
from jobsight.settings import SlurmSettings

ENV = {"PATH": os.environ["PATH"]}


def client(folder: Path, script: str, tool: str = "squeue", **settings: object) -> SlurmClient:
    """A client whose tools are shell scripts."""
    for name in {tool, "squeue", "sacct", "scontrol"}:
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    return SlurmClient(SlurmSettings.model_validate({"bin": folder} | settings))


def trouble(ask: SlurmClient) -> SlurmError:
    with pytest.raises(SlurmError) as caught:
        ask.queue()
    return caught.value


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("slurm_load_jobs error: Unable to contact slurm controller (connect failure)", "down"),
        ("slurm_load_jobs error: Socket timed out on send/recv operation", "slow"),
        ("slurm_load_jobs error: Zero Bytes were transmitted or received", "no_permission"),
        ("slurm_load_jobs error: Invalid job id specified", "no_job"),
        ("slurm_load_jobs error: Access/permission denied", "no_permission"),
        ("Slurm accounting storage is disabled", "no_accounting"),
        ("sacct: error: slurm_persist_conn_open_without_init: failed to open persistent connection "
         "to host:localhost:6819: Connection refused\nsacct: error: Problem talking to the "
         "database: Connection refused", "down"),
        ("slurm_load_jobs error: Unable to contact slurm controller; server rate limit exceeded",
         "slow"),
        ("sacct: error: Too wide of a date range in query", "too_much"),
        ("sacct: error: Query result exceeds size limit", "too_much"),
        ("error: Munge encode failed: Failed to access munge socket", "no_permission"),
        ("something new", "other"),
    ],
)  # fmt: skip
def test_errors_are_told_apart(tmp_path: Path, said: str, kind: str) -> None:
    (tmp_path / "said").write_text(said)
    error = trouble(client(tmp_path, f"cat {tmp_path}/said >&2; exit 1"))
    assert error.kind == FailureKind(kind)
    assert classify(said) is FailureKind(kind)
    assert "\n" not in str(error)


def test_a_task_that_is_not_there_is_told_of_on_either_stream(tmp_path: Path) -> None:
    for stream in (1, 2):  # the second since 26.05
        ask = client(tmp_path, f"echo 'Job 12_3 not found' >&{stream}; exit 1")
        with pytest.raises(SlurmError, match="Job 12_3 not found") as caught:
            ask.show("12_3")
        assert caught.value.kind is FailureKind.NO_JOB


@pytest.mark.parametrize(
    ("why", "kind"),
    [
        ("Unable to contact slurm controller (connect failure)", "down"),
        ("Socket timed out on send/recv operation", "slow"),
        ("Invalid job id specified", "no_job"),
        ("Invalid user id", "no_permission"),
        ("Job script not specified", "other"),
    ],
)
def test_a_script_that_scontrol_could_not_get_is_no_empty_script(
    tmp_path: Path, why: str, kind: str
) -> None:
    ask = client(tmp_path, f"echo 'job script retrieval failed: {why}' >&2; exit 0")
    with pytest.raises(SlurmError) as caught:
        ask.script("7")
    assert caught.value.kind == FailureKind(kind)


def test_a_missing_tool_names_the_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    error = trouble(SlurmClient(SlurmSettings()))
    assert error.kind is FailureKind.MISSING
    assert "slurm.bin" in str(error)
    error = trouble(SlurmClient(SlurmSettings(bin=tmp_path / "nowhere")))
    assert error.kind is FailureKind.MISSING
    (tmp_path / "squeue").write_text("not to be run")
    assert trouble(SlurmClient(SlurmSettings(bin=tmp_path))).kind is FailureKind.NO_PERMISSION


def test_a_slow_command_is_stopped_with_its_children(tmp_path: Path) -> None:
    ask = client(tmp_path, f"sleep 60 & echo $! > {tmp_path}/child; wait", timeout=0.4)
    started = time.monotonic()
    error = trouble(ask)
    assert error.kind is FailureKind.SLOW
    assert "slurm.timeout" in str(error)
    assert time.monotonic() - started < limit(5)
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        state = Path(f"/proc/{child}/stat")
        if not state.exists() or state.read_text().split()[2] == "Z":
            break
        time.sleep(0.02)
    else:
        pytest.fail("the child still runs")


def test_too_much_output_is_refused(tmp_path: Path) -> None:
    error = trouble(client(tmp_path, "yes", output_most_mb=1))
    assert error.kind is FailureKind.TOO_MUCH
    assert "slurm.output_most_mb" in str(error)


def test_much_error_output_does_not_block(tmp_path: Path) -> None:
    ask = client(tmp_path, "head -c 3000000 /dev/zero | tr '\\0' x >&2; exit 1")
    assert len(str(trouble(ask))) < 300


def test_a_command_that_dies_is_told_of(tmp_path: Path) -> None:
    assert "signal 9" in str(trouble(client(tmp_path, "kill -9 $$")))


def test_calls_are_counted_and_bad_lines_too(tmp_path: Path) -> None:
    ask = client(tmp_path, "echo rubbish")
    assert ask.queue() == []
    assert ask.queue(["7"]) == []
    assert ask.calls == {"squeue": 2}
    assert ask.refused == 2
    assert "cut short" in str(ask.last_refused)
    assert ask.seconds["squeue"] > 0


def test_the_environment_is_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SQUEUE_FORMAT", "SLURM_TIME_FORMAT", "SACCT_FORMAT", "LC_ALL", "LANG"):
        monkeypatch.setenv(name, "evil")
    monkeypatch.setenv("SLURM_JWT", "kept")
    monkeypatch.setenv("JOBSIGHT_STORE_PASSWORD", "hunter2")
    ask = client(tmp_path, f"env > {tmp_path}/env", conf="/etc/other.conf")
    ask.queue()
    seen = dict(line.partition("=")[::2] for line in (tmp_path / "env").read_text().splitlines())
    assert seen["SLURM_TIME_FORMAT"] == "%s"
    assert (seen["LC_ALL"], seen["SLURM_BITSTR_LEN"]) == ("C", "0")
    assert (seen["SLURM_CONF"], seen["SLURM_JWT"]) == ("/etc/other.conf", "kept")
    assert not {"SQUEUE_FORMAT", "SACCT_FORMAT", "LANG", "JOBSIGHT_STORE_PASSWORD"} & seen.keys()


def test_a_prefix_runs_the_tool(tmp_path: Path) -> None:
    ask = client(
        tmp_path, 'echo "SLURM_VERSION = $A"', tool="scontrol", prefix=["env", "A=22.05.8"]
    )
    assert ask.config().version == "22.05"


def test_nothing_is_read_by_a_shell(tmp_path: Path) -> None:
    ask = client(tmp_path, f'printf "%s\\n" "$@" > {tmp_path}/said')
    ask.queue(["7;touch x", "$(id)"])
    assert "--jobs=$(id),7;touch x" in (tmp_path / "said").read_text().splitlines()


def test_jobs_of_a_federation_s_other_clusters_are_not_asked_for(tmp_path: Path) -> None:
    said = tmp_path / "said"
    ask = client(tmp_path, f'echo "$@" >> {said}; echo "JobID State"', tool="scontrol")
    ask.queue()
    ask.show("7")
    ask.kept_script("7")
    with pytest.raises(SlurmError, match="no header"):
        ask.accounts(["7"])
    calls = said.read_text().splitlines()
    assert [call for call in calls if "--local" not in call.split()] == ["--helpformat"]


def test_columns_that_a_version_lacks_are_not_asked_for(tmp_path: Path) -> None:
    script = (
        'case "$1" in --helpformat) echo "JobID  State"; echo "Start End";; '
        f'*) printf "%s\\n" "$@" > {tmp_path}/said; exit 0;; esac'
    )
    ask = client(tmp_path, script)
    with pytest.raises(SlurmError, match="no header"):
        ask.accounts(["7"])
    said = (tmp_path / "said").read_text().splitlines()
    assert "--format=JobID,State,Start,End" in said
    assert ask.calls["sacct"] == 2


def test_text_of_any_bytes_is_read(tmp_path: Path) -> None:
    ask = client(tmp_path, "printf 'Batch Script for 7\\n---\\n\\377\\000x\\n'")
    assert ask.kept_script("7") == "\ufffd\ufffdx\n"


def test_output_just_within_the_bound_is_whole() -> None:
    ended = run_command(
        ["head", "-c", "1000", "/dev/zero"], env=ENV, timeout=limit(5), most_output=1000
    )
    assert (ended.status, len(ended.stdout), ended.overflow) == (0, 1000, False)


def test_local_times_are_refused_unless_their_zone_is_set(tmp_path: Path) -> None:
    script = 'echo "Configuration data as of 2026-10-25T02:30:00"; echo "ClusterName = c"'
    with pytest.raises(SlurmError, match=r"although SLURM_TIME_FORMAT=%s .* slurm\.timezone"):
        client(tmp_path, script).config()
    found = client(tmp_path, script, timezone="Asia/Tokyo").config()
    assert found.now == 1_792_863_000_000_000
    asked = 'test "$SLURM_TIME_FORMAT" = %s && echo "Configuration data as of 1792863000"'
    assert client(tmp_path, asked).config().now == 1_792_863_000_000_000


def name_of(settings: SlurmSettings) -> str:
    return SlurmClient(settings).cluster_name()


def scontrol(folder: Path, text: str) -> Path:
    tool = folder / "scontrol"
    tool.write_text(f"#!/bin/sh\n{text}\n")
    tool.chmod(0o755)
    return folder


def test_what_is_set_wins_in_lowercase_as_in_the_accounts(tmp_path: Path) -> None:
    scontrol(tmp_path, "echo 'ClusterName = red'")
    assert name_of(SlurmSettings(bin=tmp_path, cluster="Blue")) == "blue"


def test_the_controller_says_it_in_lowercase(tmp_path: Path) -> None:
    scontrol(tmp_path, "echo 'ClusterName             = Red'")
    assert name_of(SlurmSettings(bin=tmp_path)) == "red"


@pytest.mark.parametrize("answer", [None, "exit 0", "exit 1"])
def test_without_an_answer_it_must_be_set(answer: str | None, tmp_path: Path) -> None:
    if answer is not None:
        scontrol(tmp_path, answer)
    with pytest.raises(SourceError, match=r"set slurm\.cluster"):
        name_of(SlurmSettings(bin=tmp_path))


def test_what_seldom_changes_is_asked_once_an_hour_and_its_clock_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []

    def run(_client: SlurmClient, *words: str) -> str:
        asked.append(words)
        return f"Configuration data as of 1000\nClusterName = c{len(asked)}\n"

    monkeypatch.setattr(SlurmClient, "run", run)
    first = SlurmClient(SlurmSettings(), kept=tmp_path).config()
    (file,) = tmp_path.iterdir()
    half_an_hour_ago = time.time() - 1800
    os.utime(file, (half_an_hour_ago, half_an_hour_ago))
    second = SlurmClient(SlurmSettings(), kept=tmp_path).config()
    assert (first.cluster, second.cluster, len(asked)) == ("c1", "c1", 1)
    assert first.now == 1_000_000_000
    assert second.now is not None
    assert 1800 <= second.now / 1e6 - 1000 < 1900
    os.utime(file, (1, 1))
    assert SlurmClient(SlurmSettings(), kept=tmp_path).config().cluster == "c2"
    assert SlurmClient(SlurmSettings()).config().cluster == "c3"
