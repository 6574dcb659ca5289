"""``jobsight`` without a verb, on stores of made jobs."""

import json
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from rich.cells import cell_len
from tests.support.calling import jobsight
from tests.support.storedjobs import HOSTILE, SECOND, START, filled, job, told

from jobsight.cli.terminal import TERMINAL, Terminal
from jobsight.clock import now_micros
from jobsight.documents import JobDocument, Request, State, Submission, Usage, condor_id, slurm_id

HOUR = 3600


def made(
    id_: str, *steps: tuple[float, State], user: str = "ann", name: str | None = "fit.sh",
    reason: str | None = None, code: int | None = None, limit: int | None = HOUR,
    used: int | None = None, hold: tuple[int, int] | None = None,
) -> JobDocument:  # fmt: skip
    """A job that was in each state since so many hours ago; the last for the reason."""
    events, now = [], (now_micros() - START) / SECOND
    for number, (ago, state) in enumerate(steps):
        more: dict[str, Any] = {}
        if id_.startswith("htcondor:"):
            codes = {State.PENDING: 0, State.RUNNING: 1, State.HELD: 12, State.FAILED: 5}
            more = {"source": "eventlog#1", "position": 100 * number, "code": codes[state]}
        if number == len(steps) - 1:
            more |= {"reason": reason, "return_value": code}
            if hold is not None:
                more |= {"hold_code": hold[0], "hold_subcode": hold[1]}
        events.append(told(now - ago * HOUR, state, **more))
    return job(
        id_, *events,
        submission=Submission(user=user, name=name, submitted=events[0].time),
        request=Request(cpus=1, memory_mb=1000, time_limit_s=limit, partition="main", nodes=1),
        usage=Usage(memory_mb=used),
    )  # fmt: skip


def slurm(number: object, *steps: tuple[float, State], **more: Any) -> JobDocument:
    return made(slurm_id("grid", str(number)), *steps, **more)


def condor(cluster: int, proc: int, *steps: tuple[float, State], **more: Any) -> JobDocument:
    return made(condor_id("ap", cluster, proc), *steps, **more)


P, R, H, F, T = State.PENDING, State.RUNNING, State.HELD, State.FAILED, State.TIMEOUT


@pytest.fixture(autouse=True)
def _ann(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The caller is ann, at a terminal of 80 columns; no scheduler is here."""
    for name, value in {
        "LOGNAME": "ann", "HOME": str(tmp_path), "PATH": str(Path(sys.executable).parent),
        "XDG_DATA_HOME": str(tmp_path), "JOBSIGHT_CONFIG": os.devnull,
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("JOBSIGHT_STORE", raising=False)
    token = TERMINAL.set(Terminal(80, colours=False))
    yield
    TERMINAL.reset(token)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Calls the command on a store of these jobs."""

    def call(documents: list[JobDocument], *words: str) -> CompletedProcess[str]:
        monkeypatch.setenv("JOBSIGHT_STORE", filled(tmp_path / "jobs.db", documents))
        return jobsight(*words)

    return call


def screen(called: CompletedProcess[str]) -> dict[str, list[str]]:
    """The lines of each part by its title; of the first line by nothing."""
    assert called.returncode == 0, called.stderr
    first, *parts = called.stdout.rstrip("\n").split("\n\n")
    found = {"": first.splitlines()}
    for part in parts:
        title, *lines = part.splitlines()
        found[title] = lines
    return found


def commands(parts: dict[str, list[str]]) -> list[str]:
    return [lines[-1].removeprefix("  more: ") for title, lines in parts.items() if title]


def many() -> list[JobDocument]:
    """Jobs of ann and bob in all states."""
    return [
        *(condor(7, proc, (3, P), (2, R), (1, H), hold=(26, 102), used=990,
                 reason=f"memory usage {990 + proc} MB exceeded request_memory 1000 MB")
          for proc in range(3)),
        slurm(23, (2, P), (1, H), reason="JobHeldUser", name="later.sh"),
        *(slurm(f"40_{task}", (2, P), reason="Priority", name="arr.sh") for task in range(1, 7)),
        *(slurm(n, (1, P), reason="Resources", name=f"fill{n}.sh") for n in (50, 51)),
        slurm(60, (1, P), reason="PartitionTimeLimit", name="long.sh"),
        slurm(70, (2, P), (0.95, R), name="late.sh"),
        slurm(71, (2, P), (0.1, R), name="young.sh"),
        condor(8, 0, (2, P), (1, R), limit=None, used=950, name="big"),
        *(slurm(number, (9, P), (8, R), (7, F), code=3, name="bad.sh") for number in (80, 81)),
        slurm(82, (9, P), (8, R), (6, T), limit=2 * HOUR, name="slow.sh"),
        slurm(83, (60, P), (59, R), (58, F), code=3, name="old.sh"),
        *(slurm(number, (2, P), user="bob", name="bobs.sh") for number in (90, 91)),
        slurm(92, (3, P), (2, R), (1, F), user="bob", code=1, name="bobs.sh"),
    ]  # fmt: skip


def test_one_screen_has_the_callers_jobs_by_what_they_need(shown: Any) -> None:
    called = shown(many())
    parts = screen(called)
    lines = called.stdout.splitlines()
    assert parts[""] == ["ann: 4 held, 9 pending, 3 running, 3 failed in the last 24 h"]
    assert list(parts)[1:] == [
        "held: 4 jobs", "pending: 9 jobs", "running, at risk: 2 jobs",
        "failed in the last 24 h: 3 jobs",
    ]  # fmt: skip
    assert len(lines) <= 25 and all(len(part) <= 4 for part in parts.values())
    assert all(cell_len(line) <= 80 for line in lines if not line.startswith("  more: "))
    assert "bob" not in called.stdout and "old.sh" not in called.stdout

    memory, by_hand, _ = parts["held: 4 jobs"][0], *parts["held: 4 jobs"][-2:]
    assert memory.split()[0] == "fix" and "3 procs of 7" in memory
    assert (
        by_hand.startswith("  held")
        and "held by its user: `scontrol release 23`" in by_hand
    )
    blocked, array, *_ = parts["pending: 9 jobs"]
    assert blocked.startswith("  blocked") and "long.sh" in blocked and "its time limit" in blocked
    assert "6 tasks of 40" in array and "arr.sh" in array and ":" in array.split()[0]
    late, *_, big, _ = parts["running, at risk: 2 jobs"]
    assert "time limit  70" in late and "min left of 60 min" in late
    assert "8.0" in big and "950 MB of 0.977 GB in use" in big
    timeout, bad, *_ = parts["failed in the last 24 h: 3 jobs"]
    assert "82" in timeout and "ran 2 h of 2 h" in timeout
    assert "2 jobs" in bad and "exit code 3" in bad


def test_what_it_says_to_call_works(shown: Any) -> None:
    more = commands(screen(shown(many())))
    assert len(more) == 4
    for command in "; ".join(more).split("; "):
        program, *words = shlex.split(command)
        called = jobsight(*words)
        assert (program, called.returncode) == ("jobsight", 0), (command, called.stderr)
        assert called.stdout


def test_the_same_as_json_also_without_a_terminal(shown: Any) -> None:
    token = TERMINAL.set(None)
    found = json.loads(shown(many(), "--json").stdout)
    TERMINAL.reset(token)
    assert (found["user"], found["counts"]) == (
        "ann", {"held": 4, "pending": 9, "running": 3, "failed": 3},
    )  # fmt: skip
    rows = {name: found[name]["rows"] for name in ("held", "pending", "at_risk", "failed")}
    assert rows["held"][0]["ids"] == [f"htcondor:ap:7.{proc}" for proc in range(3)]
    assert rows["held"][0]["answer"]["answer"] == "fix"
    assert rows["pending"][1]["jobs"] == 6
    assert len(rows["pending"][1]["answer"]["start"]) == 3
    assert rows["failed"][1]["why"].startswith("exit code 3")
    assert found["held"]["more"] == "jobsight hold; jobsight start slurm:grid:23"
    assert found["held"]["problem"] is None


def test_jobs_of_one_cluster_are_named_in_short(shown: Any) -> None:
    parts = screen(shown([slurm(5, (1, P), reason="Priority"), slurm("6_1", (1, P), name="b.sh")]))
    assert commands(parts) == ["jobsight start 5 6_1"]


def test_where_not_all_kinds_fit_the_command_shows_all(shown: Any) -> None:
    names = ("a.sh", "b.sh", "c.sh", "d.sh", "e.sh")
    pending = [slurm(n, (1, P), name=name) for n, name in enumerate(names, 10)]
    failed = [slurm(n, (9, P), (8, R), (7, (F, T)[n % 2]), name=f"{name}x", code=1)
              for n, name in enumerate(names, 20)]  # fmt: skip
    parts = screen(shown([*pending, *failed, slurm(9, (1, P), user="bob")]))
    assert commands(parts) == [
        "jobsight start --pending --user ann",
        "jobsight jobs --since 24h --state failed --state timeout --user ann",
    ]
    for command in commands(parts):
        called = jobsight(*shlex.split(command)[1:])
        assert called.returncode == 0 and "e.sh" in called.stdout and "bob" not in called.stdout


def test_a_run_that_will_end_before_its_limit_is_not_at_risk(shown: Any) -> None:
    """Runs like it take nine tenths of their limits, never all."""
    past = [slurm(n, (30 + n, P), (29.9 + n, R), (29 + n, State.COMPLETED)) for n in range(8)]
    called = shown([*past, slurm(70, (2, P), (0.85, R))])
    assert screen(called) == {"": ["ann: 0 held, 0 pending, 1 running, 0 failed in the last 24 h"]}


def test_without_jobs_it_says_so(shown: Any) -> None:
    first, second = screen(shown([slurm(90, (1, P), user="bob")]))[""]
    assert first == "ann: 0 held, 0 pending, 0 running, 0 failed in the last 24 h"
    assert "jobsight --help" in second


def test_a_part_without_an_answer_says_why_and_the_others_are_there(
    shown: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    damaged = tmp_path / "models/start/default/registry.json"
    damaged.parent.mkdir(parents=True)
    damaged.write_text("{")
    monkeypatch.setenv("JOBSIGHT_REGISTRY", str(tmp_path / "models"))
    parts = screen(shown(many()))
    assert len(parts) == 5
    (problem,) = parts["pending: 9 jobs"]
    assert "the champion of start for default cannot be used" in problem and cell_len(problem) <= 80
    assert len(parts["held: 4 jobs"]) == 4
    assert "exit code 3" in "".join(parts["failed in the last 24 h: 3 jobs"])


def test_hostile_names_and_reasons_are_shown_safely(shown: Any) -> None:
    called = shown([
        slurm(5, (1, P), reason=HOSTILE, name=HOSTILE),
        slurm(6, (3, P), (2, R), (1, F), code=3, reason=HOSTILE, name="漢字" * 30),
    ])  # fmt: skip
    assert called.stdout.replace("\n", "").isprintable()
    assert all(cell_len(line) <= 80 for line in called.stdout.splitlines())


def test_help_where_there_is_no_terminal_no_scheduler_or_a_verb(
    shown: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = jobsight()  # neither store nor scheduler
    assert (called.returncode, called.stdout) == (2, "")
    assert called.stderr.startswith("Usage: ") and "COMMAND [ARGS]" in called.stderr
    nothing = jobsight("--json")
    assert nothing.returncode == 1 and "there is no store" in nothing.stderr
    token = TERMINAL.set(None)
    assert shown(many()).stderr == called.stderr
    TERMINAL.reset(token)
    for option in (["--json"], ["--store", "jobs.db"]):
        verb = jobsight(*option, "jobs")
        assert verb.returncode == 2 and f"{option[0]} goes after the verb" in verb.stderr


def test_the_store_can_be_named(tmp_path: Path) -> None:
    url = filled(tmp_path / "other.db", [slurm(5, (1, P), reason="JobHeldUser")])
    assert jobsight("--store", url).stdout.startswith("ann: 0 held, 1 pending")
    assert json.loads(jobsight("--store", url, "--json").stdout)["counts"]["pending"] == 1
