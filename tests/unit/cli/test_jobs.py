"""``jobsight jobs``."""

import json
import os
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.limits import limit
from tests.support.storedjobs import HOSTILE, SECOND, START, filled, held_job, job, slurm_job, told
from typer.testing import CliRunner, Result

from jobsight.cli.main import app
from jobsight.documents import JobDocument, State, Submission, condor_id, slurm_id
from jobsight.documents.states import parse_states
from jobsight.errors import StoreError, UsageError

JOBS = [
    slurm_job("1", State.PENDING),
    slurm_job("2", State.PENDING, State.RUNNING, user="ann"),
    slurm_job("3_7", State.PENDING, State.RUNNING, State.OUT_OF_MEMORY),
    held_job(),
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return filled(tmp_path_factory.mktemp("store") / "jobs.db", JOBS)


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("JOBSIGHT_STORE", raising=False)


def call(*arguments: object, **environment: str) -> Result:
    return CliRunner().invoke(app, ["jobs", *map(str, arguments)], env=environment)


def ids(*arguments: object, **environment: str) -> list[str]:
    result = call(*arguments, "--json", **environment)
    assert result.exit_code == 0, result.exception
    return [msgspec.convert(one, JobDocument).id for one in json.loads(result.stdout)]


def test_a_table_of_all_jobs_newest_first(url: str) -> None:
    lines = call("--store", url).stdout.splitlines()
    assert lines[0].split() == [
        "job", "cluster", "user", "name", "state", "submitted", "waited", "started",
        "ran", "memory", "why",
    ]  # fmt: skip
    assert [line.split()[0] for line in lines[1:]] == ["12.3", "3_7", "2", "1"]
    assert "failed" in lines[1]
    assert "5 min" in lines[1]
    assert "1.46 GB" in lines[1]
    assert "exit code 3" in lines[1]


LONG = "transfer of " + "input files " * 12 + "failed"


@pytest.fixture
def live(tmp_path: Path) -> str:
    """Jobs that wait, run and are held now, with nothing told for two minutes."""
    start = time.time_ns() // 1000 - 120 * SECOND - START

    def at(second: int) -> int:
        return (start // SECOND) + second

    def by(name: str) -> Submission:
        return Submission(user="u" * 20, name=name)

    jobs = [
        job(condor_id("ap", 1, 0), told(at(0), State.PENDING), submission=by("n" * 40)),
        job(
            condor_id("ap", 2, 0), told(at(-600), State.RUNNING), told(at(-540), State.HELD),
            told(at(-500), State.PENDING), told(at(0), State.RUNNING), submission=by("sim"),
        ),
        job(condor_id("ap", 3, 0), told(at(0), State.HELD, reason=LONG), submission=by("x")),
    ]  # fmt: skip
    return filled(tmp_path / "live.db", jobs)


def test_what_goes_on_counts_until_now_and_is_marked(live: str) -> None:
    rows = [line.split("  ") for line in call("--store", live).stdout.splitlines()[1:]]
    cells = {row[0].strip(): [cell.strip() for cell in row if cell.strip()] for row in rows}
    assert "2 min…" in cells["1.0"]
    assert "3 min…" in cells["2.0"]  # all runs together
    assert not any("…" in cell for cell in cells["3.0"][:-1])


def test_at_80_columns_the_columns_are_always_the_same_and_names_stay(url: str, live: str) -> None:
    for store in (live, url):
        arguments = ["--store", store] + (["--cluster", "grid"] if store == url else [])
        lines = call(*arguments, COLUMNS="80").stdout.splitlines()
        assert lines[0].split() == ["job", "user", "name", "state", "waited", "ran", "why"]
        assert max(map(len, lines)) <= 80
    headings = call("--store", url, COLUMNS="80").stdout.split()[:4]
    assert headings == ["job", "cluster", "user", "name"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (["--user", "ann"], ["12.3", "2"]),
        (["--state", "active"], ["2", "1"]),
        (["--state", "ended"], ["12.3", "3_7"]),
        (["--state", "PD", "--state", "out-of-memory"], ["3_7", "1"]),
        (["--cluster", "ap40"], ["12.3"]),
        (["--cluster", "slurm:grid"], ["3_7", "2", "1"]),
        (["--cluster", "nowhere"], []),
        (["--since", "2026-11-21 01:36:30Z"], ["12.3", "3_7"]),
        (["--until", f"@{START // 1_000_000 + 60}"], ["1"]),
        (["--since", "1h"], []),
        (["--limit", "2"], ["12.3", "3_7"]),
        (["--limit", "0"], ["12.3", "3_7", "2", "1"]),
        (["--limit", str(10**20)], ["12.3", "3_7", "2", "1"]),
    ],
)
def test_what_is_asked_for_is_shown(url: str, asked: list[str], found: list[str]) -> None:
    assert [one.rpartition(":")[2] for one in ids("--store", url, *asked)] == found


def test_a_job_of_no_known_state_is_active_until_it_is_told_to_have_ended(tmp_path: Path) -> None:
    names = [slurm_id("grid", str(number)) for number in (1, 2)]
    url = filled(tmp_path / "jobs.db", [job(names[0]), job(names[1], told(0, State.FAILED))])
    assert ids("--store", url, "--state", "active") == names[:1]
    assert ids("--store", url, "--state", "ended") == names[1:]


def test_jobs_of_two_clusters_of_one_name_come_in_the_usual_order(tmp_path: Path) -> None:
    names = [condor_id("grid", 1, 0), slurm_id("grid", "1"), condor_id("grid", 2, 0)]
    url = filled(tmp_path / "jobs.db", [job(name, told(0, State.PENDING)) for name in names])
    assert ids("--store", url, "--cluster", "grid") == ids("--store", url)
    assert len(ids("--store", url, "--cluster", "grid", "--limit", "2")) == 2


def test_the_store_is_named_by_the_environment_or_the_settings(url: str, tmp_path: Path) -> None:
    assert len(ids(JOBSIGHT_STORE=url)) == len(JOBS)
    assert len(ids(JOBSIGHT_STORE=f"sqlite://{url}")) == len(JOBS)
    config = tmp_path / "own.yaml"
    config.write_text(f"store: {url}\n")
    assert len(ids("--config", config)) == len(JOBS)
    assert len(ids("--config", config, "--store", url, JOBSIGHT_STORE="/nowhere")) == len(JOBS)


def test_more_than_the_limit_is_told_beside_the_answer(url: str) -> None:
    result = call("--store", url, "--limit", "3")
    assert len(result.stdout.splitlines()) == 4
    assert "the newest 3 are shown" in result.stderr
    assert not call("--store", url, "--limit", "4").stderr


def test_a_store_that_is_not_there_is_an_error_and_is_not_made(tmp_path: Path) -> None:
    for verb in ("jobs", "jobs --json", "job 1", "store status", "store check"):
        result = CliRunner().invoke(app, [*verb.split(), "--store", str(tmp_path / "none.db")])
        assert isinstance(result.exception, StoreError)
        assert "none.db" in str(result.exception)
        assert not result.stdout
    assert list(tmp_path.iterdir()) == []


def test_an_empty_store_has_no_jobs(tmp_path: Path) -> None:
    empty = filled(tmp_path / "jobs.db", [])
    assert f"the store {empty} is empty; `jobsight import`" in call("--store", empty).stdout
    some = filled(tmp_path / "some.db", [held_job()])
    assert call("--store", some, "-u", "x").stdout == "no job in the store matches\n"
    assert ids("--store", empty) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--state", "asleep\x1b[2J"], "'asleep [2J' is not a state"),
        (["--since", "tomorrow"], "'tomorrow' is not a time"),
        (["--until", "2 moons"], "or as 90s, 30min, 2h, '3 days ago', today, yesterday"),
        (["--store", "mysql://host"], "no store is addressed by mysql://"),
        (["--timezone", "Mars/North"], "no time zone is named"),
    ],
)
def test_a_wrong_call_is_told_in_one_line(url: str, arguments: list[str], said: str) -> None:
    result = call("--store", url, *arguments)
    assert isinstance(result.exception, UsageError)
    assert said in str(result.exception)
    assert "\n" not in str(result.exception)


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    hostile = [
        job(
            condor_id(HOSTILE, 1, 0),
            told(1, State.HELD, reason=HOSTILE * 20, word=HOSTILE),
            submission=Submission(user=HOSTILE, name=HOSTILE * 50),
        ),
        job(slurm_id("grid", "5"), told(0, State.FAILED, reason="数据 " * 100), user="数据用户"),
    ]
    url = filled(tmp_path / "jobs.db", hostile)
    for columns in ("", "200", "40"):
        shown = call("--store", url, COLUMNS=columns).stdout
        assert len(shown.splitlines()) == 3
        assert all(line.isprintable() for line in shown.splitlines())
    printed = call("--store", url, "--json").stdout
    assert printed.replace("\n", "").isprintable()
    assert printed.isascii()
    assert [msgspec.convert(one, JobDocument) for one in json.loads(printed)] == hostile


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 120, 200])
def test_a_narrow_terminal_gets_narrow_lines(url: str, columns: int) -> None:
    from rich.cells import cell_len

    lines = call("--store", url, COLUMNS=str(columns)).stdout.splitlines()
    assert lines[0].startswith("job")
    assert "state" in lines[0]
    if columns >= 40:
        assert max(map(cell_len, lines)) <= columns
    assert "12.3" in lines[1]


@pytest.mark.parametrize("colour", [True, False])
def test_colours_only_where_they_are_wanted(url: str, colour: bool) -> None:
    """On a terminal, a real one, and not under NO_COLOR."""
    import pty
    import subprocess
    import sys

    leader, follower = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    environment |= {"COLUMNS": "100", "TERM": "xterm"}
    command = [sys.executable, "-m", "jobsight", *([] if colour else ["--no-color"])]
    done = subprocess.run(
        [*command, "jobs", "--store", url],
        stdout=follower,
        env=environment,
        check=False,
        timeout=limit(60),
    )
    os.close(follower)
    shown = os.read(leader, 1 << 16).decode()
    os.close(leader)
    assert done.returncode == 0
    assert ("\x1b[31mfailed\x1b[0m" in shown) is colour
    assert "failed" in shown


def test_states_in_words() -> None:
    assert parse_states([]) is None
    assert parse_states(["Held", "NF"]) == frozenset({State.HELD, State.NODE_FAIL})
    active, ended = parse_states(["active"]), parse_states(["ended"])
    assert active is not None
    assert ended is not None
    assert active | ended == frozenset(State)
    assert not active & ended


def test_of_many_jobs_the_newest_are_shown_at_once(tmp_path: Path) -> None:
    from jobsight.documents import Event, JobDocument
    from jobsight.store import Put, open_store

    path = tmp_path / "jobs.db"

    def one(number: int) -> Any:
        event = Event(time=START + number, source="sacct", state=State.COMPLETED)
        return Put(JobDocument(slurm_id("c", str(number)), 1, state=event.state, timeline=(event,)))

    with open_store(str(path), create=True) as store:
        for first in range(0, 100_000, 20_000):
            store.put([one(number) for number in range(first, first + 20_000)])
    started = time.process_time()
    assert len(ids("--store", path, "--limit", "20")) == 20
    assert time.process_time() - started < 1.0
