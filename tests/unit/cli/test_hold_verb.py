"""The command itself, on a small log in HTCondor's own words."""

import datetime as dt
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from tests.support.calling import jobsight
from tests.support.hold_models import constant_model
from tests.support.storedjobs import filled, held_job

from jobsight.documents import Event, JobDocument, State, condor_id
from jobsight.files import Kind, new_folder

HOSTILE = "job \x1b[31mexited\x07 with [red]code[/red] 2\u202e `rm -rf` $(x)"


def event(code: int, job: str, at: str, *body: str) -> str:
    cluster, proc = job.split(".")
    head = f"{code:03d} ({int(cluster):03d}.{int(proc):03d}.000) 2026-11-21 01:{at} "
    return head + "\n\t".join(body) + "\n...\n"


def submitted(job: str, at: str) -> str:
    return event(0, job, at, "Job submitted from host: <127.0.0.1:9618?alias=ap>")


def held(job: str, at: str, code: int, subcode: int, reason: str) -> str:
    return event(12, job, at, "Job was held.", reason, f"Code {code} Subcode {subcode}")


def released(job: str, at: str) -> str:
    return event(13, job, at, "Job was released.", "via condor_release (by user ann)")


def ended(job: str, at: str) -> str:
    return event(5, job, at, "Job terminated.", "(1) Normal termination (return value 0)")


LOG = "".join(
    [
        *(submitted(f"{cluster}.{proc}", "00:00") for cluster in (7, 8) for proc in range(3)),
        held("7.0", "01:00", 3, 1, HOSTILE),
        released("7.0", "02:00"),
        ended("7.0", "03:00"),
        held("7.1", "04:00", 3, 1, HOSTILE),
        held("7.2", "04:30", 34, 102, "memory usage 163 MB exceeded request_memory 128 MB"),
        held("8.0", "04:40", 1, 0, "later (by user ann)"),
        held("8.1", "09:00", 3, 1, HOSTILE),
    ]
)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("hold") / "pool.log"
    path.write_text(LOG, encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("models") / "model"
    with new_folder(path, Kind.MODEL) as folder:
        constant_model(0.05).save(folder, seed=0, facts={})
    return str(path)


Run = Callable[..., CompletedProcess[str]]


@pytest.fixture
def run() -> Run:
    return partial(jobsight, "hold", "--timezone", "UTC")


AT = ("--at", "2026-11-21 01:05:00")


def test_one_job_as_one_object(run: Run, log: str, model: str) -> None:
    done = run("7.2", "--log", log, "--model", model, *AT, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["job"], found["answer"]) == ("7.2", "fix")
    assert found["at"] == "2026-11-21 01:05:00Z"
    assert [step["command"] for step in found["advice"]["steps"]] == [
        "condor_qedit -name ap 7.2 RequestMemory 256",
        "condor_release -name ap 7.2",
    ]
    assert found["model"].startswith("constant@")


def test_text_without_a_model(run: Run, log: str) -> None:
    done = run("7.1", "8.0", "--log", log, *AT)
    assert done.returncode == 0, done.stderr
    assert "RELEASE  job 7.1" in done.stdout
    assert "1 release with this cause ended: 1 succeeded (100 %, 1 batch)" in done.stdout
    assert "uncalibrated" in done.stdout
    assert "USER HOLD  job 8.0" in done.stdout
    assert "its user's own hand" in done.stdout
    assert "nothing to decide" in done.stdout
    # Hostile text is shown as text: no escape sequence, no markup taken for colour.
    assert "[red]code[/red]" in done.stdout
    assert all(letter.isprintable() or letter == "\n" for letter in done.stdout)


def test_all_at_the_end_of_the_log(run: Run, log: str, model: str) -> None:
    done = run("--all", "--log", log, "--model", model)
    assert done.returncode == 0, done.stderr
    assert "4 jobs held as of 2026-11-21 01:09:00Z (the end of the log)" in done.stdout
    assert done.stdout.index("cluster 7") < done.stdout.index("cluster 8")
    each = run("--each", "--log", log, "--model", model)
    heading, *rows = [line.split() for line in each.stdout.splitlines() if line[0].isalpha()]
    assert heading[:4] == ["answer", "job", "access", "point"]
    assert [row[1:3] for row in rows[:3]] == [[job, "ap"] for job in ("7.2", "7.1", "8.1")]
    assert rows[3][:4] == ["USER", "HOLD", "8.0", "ap"]


@pytest.mark.parametrize("asked", ["7.2", "--all", "--each"])
def test_a_fix_is_shown_before_its_release(run: Run, log: str, model: str, asked: str) -> None:
    shown = run(asked, "--log", log, "--model", model, *AT).stdout
    fix, release = shown.index("1. set RequestMemory"), shown.index("2. then release it")
    commands = [shown.index(f"condor_{tool} -name ap 7.2") for tool in ("qedit", "release")]
    assert fix < commands[0] < release < commands[1]


@pytest.mark.parametrize("asked", ["7.1", "--all", "--each"])
def test_a_wait_shows_until_when_and_the_probability_then(
    run: Run, log: str, tmp_path: Path, asked: str
) -> None:
    with new_folder(tmp_path / "model", Kind.MODEL) as folder:
        constant_model(0.3, delays={90.0: 0.9}).save(folder, seed=0, facts={})
    shown = run(asked, "--log", log, "--model", str(tmp_path / "model"), *AT).stdout
    assert "until 2026-11-21 01:06:30Z, then release it: 90 % (85–95 %) to succeed" in shown
    assert '"condor_release -name ap 7.1" | TZ=UTC at -t 202611210107' in shown


def test_a_job_submitted_on_hold_is_found(run: Run, tmp_path: Path) -> None:
    told = ["JobStatus = 5", "HoldReasonCode = 15", "TriggerEventTypeNumber = 0"]
    ad = f"028 (007.000.000) 2026-11-21 01:00:00 Job ad information.\n{chr(10).join(told)}\n...\n"
    log = tmp_path / "log"
    log.write_text(submitted("7.0", "00:00") + ad + submitted("7.1", "00:01"))
    (found,) = json.loads(run("--all", "--log", str(log), "--json").stdout)
    assert (found["job"], found["hold_code"], found["probability"]) == ("7.0", 15, None)


@pytest.mark.parametrize("asked", [("7.1",), ("--all",), ("--each",)])
def test_a_narrow_terminal_breaks_prose_between_words_and_no_command(
    run: Run, log: str, model: str, asked: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = (*asked, "--log", log, "--model", model)
    monkeypatch.delenv("COLUMNS", raising=False)
    wide = run(*arguments).stdout
    monkeypatch.setenv("COLUMNS", "60")
    narrow = run(*arguments).stdout
    if "--each" not in asked:  # its table leaves columns out
        assert narrow.split() == wide.split()
    below = [line for line in narrow.splitlines() if line.startswith("  ")]
    assert all(len(line) <= 60 or "condor_" in line for line in below)
    assert any(len(line) > 60 for line in wide.splitlines())
    assert all(line in narrow for line in wide.splitlines() if "condor_release -name ap -c" in line)


def test_several_as_a_list(run: Run, log: str) -> None:
    done = run("--all", "--log", log, *AT, "--json")
    found = json.loads(done.stdout)
    assert {one["job"] for one in found} == {"7.1", "7.2", "8.0"}
    assert next(one for one in found if one["job"] == "8.0")["probability"] is None
    cluster = json.loads(run("7", "--log", log, *AT, "--json").stdout)
    assert [one["job"] for one in cluster] == ["7.1", "7.2"]


def test_nothing_held(run: Run, log: str) -> None:
    early = ("--at", "2026-11-21 01:00:30")
    assert run("--all", "--log", log, *early).stdout.startswith("no job is held as of")
    assert json.loads(run("--all", "--log", log, *early, "--json").stdout) == []


@pytest.mark.parametrize(
    ("job", "said"),
    [
        ("99.0", "no log or store that was read has job 99.0"),
        ("7.0", "job 7.0 is not held as of 2026-11-21 01:05:00Z: it terminated at"),
        ("8.2", "it waits to start, or was submitted on hold"),
    ],
)
def test_unknown_and_not_held_are_one_line(run: Run, log: str, job: str, said: str) -> None:
    done = run(job, "--log", log, *AT)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


def test_a_moment_before_the_first_event_is_an_error(run: Run, log: str) -> None:
    done = run("--all", "--log", log, "--at", "1990-01-01")
    assert (done.returncode, done.stdout) == (1, "")
    assert "nothing is recorded as of 1990-01-01 00:00:00Z: the first event is of" in done.stderr


def test_those_that_are_held_are_answered_all_the_same(run: Run, log: str) -> None:
    done = run("7.0", "7.1", "99.0", "--log", log, *AT, "--json")
    assert done.returncode == 1
    assert [one["job"] for one in json.loads(done.stdout)] == ["7.1"]
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("7.1",),
        ("--all",),
        ("7.1", "--all", "--log", "x"),
        ("seven", "--log", "x"),
        ("7.1", "--log", "x", "--at", "noon"),
    ],
)
def test_wrong_calls(run: Run, arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")


def condor(folder: Path, **told: str) -> str:
    """The folder of a condor_config_val that knows these settings."""
    lines = [f"{name}) echo '{value}';;\n" for name, value in told.items()]
    tool = folder / "condor_config_val"
    tool.write_text(f'#!/bin/sh\ncase "$1" in\n{"".join(lines)}*) exit 1;;\nesac\n')
    tool.chmod(0o755)
    return str(folder)


@pytest.fixture
def stored(tmp_path: Path) -> str:
    """A store of two access points with a held job of the same id, one of a hostile name."""
    names = ("ap1", "ap2", "ap3; touch x")
    return filled(tmp_path / "jobs.db", [held_job(name) for name in names])


THEN = ("--model", "none", "--at", "2026-11-21 01:37:00Z")


def test_every_object_says_whose_the_job_is(run: Run, stored: str) -> None:
    for asked in ("--all", "12.3"):
        found = json.loads(run(asked, "--store", stored, *THEN, "--json").stdout)
        assert sorted((one["job"], one["access_point"], one["id"]) for one in found) == [
            ("12.3", "ap1", "htcondor:ap1:12.3"),
            ("12.3", "ap2", "htcondor:ap2:12.3"),
            ("12.3", "ap3; touch x", "htcondor:ap3%3B%20touch%20x:12.3"),
        ]


@pytest.mark.parametrize("asked", ["--all", "--each", "12"])
def test_every_row_and_command_says_whose_the_job_is(
    run: Run, stored: str, asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOBSIGHT_CONDOR__BIN", condor(tmp_path, FULL_HOSTNAME="ap1"))
    with new_folder(tmp_path / "model", Kind.MODEL) as folder:
        constant_model(0.9).save(folder, seed=0, facts={})
    model = ("--model", str(tmp_path / "model"), *THEN[2:])
    shown = run(asked, "--store", stored, *model).stdout
    rows = [line for line in shown.splitlines() if line.startswith("RELEASE")]
    assert len(rows) == 3
    for name in ("ap1", "ap2", "ap3; touch x"):
        assert sum(f" {name}" in row for row in rows) == 1
    commands = [line.strip() for line in shown.splitlines() if line.strip().startswith("condor_")]
    assert sorted(commands) == ["condor_release -name ap1 12.3", "condor_release -name ap2 12.3"]
    assert "no command is given: the log has 'ap3; touch x' for its access point" in shown


def test_commands_on_the_access_point_itself_are_plain_but_where_they_are_kept(
    run: Run, log: str, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOBSIGHT_CONDOR__BIN", condor(tmp_path, FULL_HOSTNAME="ap"))
    store = filled(tmp_path / "jobs.db", [held_job("ap", 7, 2)])
    asked = ("7.2", "--log", log, "--model", model, *AT, "--json")
    plain = json.loads(run(*asked).stdout)
    assert plain["advice"]["steps"][-1]["command"] == "condor_release 7.2"
    monkeypatch.setenv("JOBSIGHT_STORE__URL", store)
    kept = json.loads(run(*asked, "--save").stdout)
    assert kept["advice"]["steps"][-1]["command"] == "condor_release -name ap 7.2"


def owned(job: str, at: str, owner: str) -> str:
    """The ad behind the hold of a job, with its owner."""
    cluster, proc = job.split(".")
    lines = [f'Owner = "{owner}"', f"Cluster = {cluster}", f"Proc = {proc}"]
    lines += ["TriggerEventTypeNumber = 12", 'TriggerEventTypeName = "ULOG_JOB_HELD"']
    body = "\n".join(["Job ad information event triggered.", *lines])
    return event(28, job, at, body)


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The EVENT_LOG of this machine, rotated once: two jobs of ann are held, one of bob."""
    path = tmp_path / "EventLog"
    older = [
        submitted("5.0", "00:00"),
        held("5.0", "01:00", 3, 1, "x"),
        owned("5.0", "01:00", "ann"),
    ]
    path.with_name("EventLog.old").write_text("".join(older))
    newer = [submitted(job, "02:00") for job in ("6.0", "6.1")]
    for job, owner in (("6.0", "ann"), ("6.1", "bob")):
        newer += [held(job, "03:00", 3, 1, "x"), owned(job, "03:00", owner)]
    path.write_text("".join(newer))
    monkeypatch.setenv("JOBSIGHT_CONDOR__BIN", condor(tmp_path, EVENT_LOG=str(path)))
    monkeypatch.setenv("LOGNAME", "ann")
    return path


def test_without_log_or_store_this_machine_is_asked_for_the_callers_jobs(
    run: Run, pool: Path
) -> None:
    own = run("--json")
    assert own.returncode == 0, own.stderr
    assert sorted(one["job"] for one in json.loads(own.stdout)) == ["5.0", "6.0"]
    shown = run().stdout
    assert "2 jobs of ann held as of" in shown
    assert "(now; " in shown  # the log goes on
    assert len(json.loads(run("--all", "--json").stdout)) == 3
    assert json.loads(run("6.1", "--json").stdout)["job"] == "6.1"


def test_a_caller_without_held_jobs(run: Run, pool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "eve")
    done = run()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("no job of eve is held as of")


def test_jobs_without_a_known_owner_are_shown_with_a_note(
    run: Run, log: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "ann")
    done = run("--log", log, "--json")
    assert len(json.loads(done.stdout)) == 4
    assert "of 4 jobs no owner is recorded: they may be of others" in done.stderr


def test_neither_a_log_nor_a_store_is_one_line_that_says_what_to_do(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOBSIGHT_CONDOR__BIN", str(tmp_path))
    done = run()
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    for word in ("--log FILE", "--store URL", "EVENT_LOG"):
        assert word in done.stderr


def test_other_sites_rules_are_shown_on_demand(run: Run, log: str) -> None:
    asked = ("7.1", "--log", log, "--timezone", "UTC", "--model", "none")
    assert "pegasus" not in run(*asked).stdout
    assert "pegasus" in run(*asked, "--verbose").stdout


def test_in_a_store_a_job_is_held_until_now(run: Run, log: str, tmp_path: Path) -> None:
    now = dt.datetime.now(dt.UTC)
    at = round(now.timestamp()) * 1_000_000 - 3 * 86_400_000_000
    told = [
        Event(time=at - 60_000_000, source="eventlog-1", position=0, code=0, state=State.PENDING),
        Event(
            time=at, source="eventlog-1", position=100, code=12, state=State.HELD, hold_code=3,
            hold_subcode=1, reason="exit",
        ),
    ]  # fmt: skip
    made = JobDocument(id=condor_id("ap", 3, 0), updated=at, timeline=tuple(told))
    path = filled(tmp_path / "live.db", [made])
    done = run("3.0", "--store", path)
    assert done.returncode == 0, done.stderr
    assert "(3 d)" in done.stdout
    assert "(now; last event " in done.stdout
    assert "the end of the log" not in done.stdout
    named = run("3.0", "--store", path, "--at", now.isoformat(), "--json")
    assert json.loads(named.stdout)["job"] == "3.0"
    unknown = run("9.0", "--store", path)
    assert "name one that does" in unknown.stderr


@pytest.mark.parametrize("source", ["log", "store"])
def test_a_request_is_held_against_the_slot_its_table_and_the_largest_slot(
    run: Run, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a store, slots and tables are read from this machine's log, where the job is in it."""
    log, site, store = tmp_path / "EventLog", tmp_path / "site", str(tmp_path / "jobs.db")
    table = ["Partitionable Resources :    Usage  Request Allocated",
             "   Memory (MB)          :     2440     2311      2560"]  # fmt: skip
    log.write_text(
        submitted("7.0", "00:00")
        + event(1, "7.0", "01:00", "Job executing on host: <127.0.0.1:9618>", "Memory = 2560")
        + event(
            6, "7.0", "02:00", "Image size of job updated: 1", "1800  -  MemoryUsage of job (MB)"
        )
        + event(4, "7.0", "03:00", "Job was evicted.", "(0) CPU times", *table)
        + held("7.0", "03:00", 21, 102, "memory usage exceeded request_memory")
    )
    site.mkdir()
    (site / "condor_status.ads").write_text("Memory = 3000\n")
    monkeypatch.setenv("JOBSIGHT_EVENTLOG__PATHS", json.dumps([str(log)]))
    if source == "store":
        assert jobsight("import", str(log), "--store", store).returncode == 0
    asked = ("7.0", f"--{source}", store if source == "store" else str(log), "--model", "none")
    found = [
        json.loads(run(*asked, *more, "--json").stdout)["advice"]["steps"][0]
        for more in ((), ("--site", str(site)))
    ]
    assert [one["command"] for one in found] == [
        f"condor_qedit -name ap 7.0 RequestMemory {amount}" for amount in (3584, 3000)
    ]
    why = "it used 2,440 MB and was allowed 2,311 MB and no slot known has more"
    assert found[1]["text"] == f"set RequestMemory to 3,000 MB ({why})"
