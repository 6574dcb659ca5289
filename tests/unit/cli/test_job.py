"""``jobsight job``."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.cells import cell_len
from tests.support.storedjobs import HOSTILE, SECOND, START, filled, held_job, job, slurm_job, told
from typer.testing import CliRunner, Result

from jobsight.cli.main import app
from jobsight.documents import (
    Event,
    JobDocument,
    Prediction,
    Request,
    State,
    Submission,
    Usage,
    condor_id,
    slurm_id,
)
from jobsight.errors import JobError
from jobsight.ids import parse_job_name
from jobsight.store import open_store
from jobsight.store.store import find_ids

LIVES = (State.PENDING, State.RUNNING, State.COMPLETED)
JOBS = [
    *(held_job(proc=proc) for proc in range(4)),
    held_job("ap41", proc=3),
    held_job(cluster=5, proc=0),
    *(slurm_job(f"3_{task}", *LIVES) for task in (2, 10, 1)),
    slurm_job("7", *LIVES),
    slurm_job("12", *LIVES),
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return filled(tmp_path_factory.mktemp("store") / "jobs.db", JOBS)


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("JOBSIGHT_STORE", raising=False)


def call(url: str, *arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(app, ["job", *arguments, "--store", url], env=environment)


def shown(url: str, *arguments: str, **environment: str) -> str:
    result = call(url, *arguments, **environment)
    assert result.exit_code == 0, result.exception
    return result.stdout


def plain(printed: dict[str, Any]) -> JobDocument:
    """The document itself, without what is derived from it."""
    printed.pop("efficiency", None)
    return msgspec.convert(printed, JobDocument)


def test_all_that_is_known_of_a_job(url: str) -> None:
    page = shown(url, "12.3", "--cluster", "ap40")
    for line in (
        "FAILED  job 12.3 on ap40 at 2026-11-21 01:43:20Z, exit code 3",
        "  id         htcondor:ap40:12.3",
        "  user       ann",
        "  submitted  2026-11-21 01:35:00Z, from login1",
        "  siblings   3 other jobs of its number",
        "  counted    2 starts, 1 hold",
        "  script (the first 15 of 41 lines)",
        "  | #!/bin/bash",
    ):
        assert line in page.splitlines()
    rows = [line.split() for line in page.splitlines()]
    assert ["ran", "–", "5.5", "min"] in rows
    assert ["last", "run", "60", "min", "5", "min", "8", "%"] in rows
    assert ["memory", "2", "GB", "1.46", "GB", "73", "%"] in rows
    assert "job was held, TransferInputError (13/256), Transfer failed" not in page
    assert "TransferInputError (13/256): Transfer failed" in page
    assert ["2026-11-21", "01:35:00Z", "hold", "boosted", "release,", "36", "%"] in rows


def test_what_is_unknown_is_not_shown_as_0(tmp_path: Path) -> None:
    ended = Event(time=START, source="swf", state=State.COMPLETED, undated=True)
    usage = Usage(wall_s=50.0, gpus=2)
    document = job(slurm_id("trace", "7"), told(0, State.PENDING), ended, usage=usage)
    page = shown(filled(tmp_path / "jobs.db", [document]), "7")
    lines = page.splitlines()
    assert lines[0] == "COMPLETED  job 7 on trace at an unknown time"
    assert "  life       2026-11-21 01:35:00Z … an unknown time" in lines
    assert [line.split()[-1] for line in lines if line.startswith("  pending")] == ["–"]
    rows = [line.split() for line in lines]
    assert ["ran", "–", "50", "s"] in rows
    assert ["gpus", "–", "2"] in rows
    table = CliRunner().invoke(app, ["jobs", "--store", str(tmp_path / "jobs.db")]).stdout
    assert table.splitlines()[1].split()[-5:] == ["–", "–", "50", "s", "–"]


def test_what_bound_a_job_is_said_by_its_accounting(tmp_path: Path) -> None:
    ended = Event(time=START + 10**9, source="sacct", state=State.COMPLETED)
    usage = Usage(wall_s=1000.0, cpu_s=3800.0, cpus=4)
    document = job(slurm_id("trace", "7"), told(0, State.PENDING), ended, usage=usage)
    page = shown(filled(tmp_path / "jobs.db", [document]), "7")
    assert "  bound by   cpu or memory (by its accounting)" in page.splitlines()


@pytest.mark.parametrize(
    ("state", "end", "used", "title", "meaning"),
    [
        (
            State.FAILED,
            {"return_value": 137},
            4090,
            "OUT_OF_MEMORY",
            "it ran out of memory and was killed",
        ),
        (
            State.FAILED,
            {"signal": 9},
            900,
            "FAILED",
            "most likely: it was killed from outside (signal 9)",
        ),
        (
            State.FAILED,
            {"return_value": 9},
            900,
            "FAILED",
            "most likely: it was killed from outside (exit code 9)",
        ),
        (
            State.FAILED,
            {"return_value": 127},
            900,
            "FAILED",
            "most likely: a command was not found",
        ),
        (State.NODE_FAIL, {"return_value": 1}, 900, "NODE_FAIL", "its machine failed or was lost"),
        (State.DEADLINE, {}, None, "DEADLINE", "its --deadline came before it could"),
    ],
)
def test_what_an_end_means_is_said(
    state: State, end: dict[str, int], used: int | None, title: str, meaning: str, tmp_path: Path
) -> None:
    document = job(
        slurm_id("trace", "7"), told(0, State.PENDING), told(90, state, **end),
        request=Request(memory_mb=4096), usage=Usage(memory_mb=used, wall_s=90.0, cpu_s=1.0),
    )  # fmt: skip
    page = shown(filled(tmp_path / "jobs.db", [document]), "7")
    assert page.startswith(f"{title}  job 7")
    assert f"  why        {meaning}" in page
    assert ("bound by" in page) == (state is not State.NODE_FAIL)


def test_the_life_is_drawn_a_line_for_each_state(url: str) -> None:
    lines = shown(url, "5.0").splitlines()
    bars = {line.split()[0]: line.split()[1] for line in lines if "█" in line}
    assert set(bars) == {"pending", "held", "running"}
    (size,) = {len(bar) for bar in bars.values()}
    cell = 500 / size
    moments = {30: "pending", 75: "running", 120: "held", 175: "pending", 400: "running"}
    for at, state in moments.items():
        for name, bar in bars.items():
            assert (bar[int(at / cell)] == "█") is (name == state), (at, name)
    assert any(line.split()[:1] == ["held"] and line.endswith("60 s") for line in lines)


def test_a_life_that_goes_on_is_drawn_until_now(tmp_path: Path) -> None:
    import time

    second = (time.time_ns() // 1000 - START) // SECOND - 120
    waits = job(slurm_id("c", "1"), told(second, State.PENDING))
    lines = shown(filled(tmp_path / "jobs.db", [waits]), "1").splitlines()
    assert any(line.startswith("  life") and line.endswith("… now (2 min)") for line in lines)
    assert any(line.startswith("  pending") and line.endswith("█  2 min…") for line in lines)
    assert any(line.startswith("  last event 20") for line in lines)


def test_at_80_columns_the_reason_of_a_hold_can_be_read(tmp_path: Path) -> None:
    reason = "Transfer input files failure at access point ap40 while " + "sending files " * 9
    held = job(
        condor_id("ap40", 1, 0),
        told(0, State.PENDING, source="eventlog", code=0),
        told(60, State.HELD, source="eventlog", code=12, hold_code=13, reason=reason),
    )
    page = shown(filled(tmp_path / "jobs.db", [held]), "1.0", COLUMNS="80")
    assert max(map(cell_len, page.splitlines())) <= 80
    assert " ".join(page.split()).count("sending files") == 18
    facts, events = page.split("  counted", 1)
    assert " ".join(facts.split()).endswith("reason " + reason.strip())
    assert "TransferInputError" in events


def test_what_is_of_a_cluster_is_found_by_its_whole_number(url: str) -> None:
    told_json = json.loads(shown(url, "slurm:grid:3", "--json"))
    assert [one["id"] for one in told_json] == [f"slurm:grid:3_{task}" for task in (1, 2, 10)]
    result = call(url, "htcondor:ap40:12")
    assert len(result.stdout.splitlines()) == 5
    assert "4 jobs have this number" in result.stderr
    assert [one["id"] for one in json.loads(shown(url, "htcondor:ap41:12", "--json"))] == [
        "htcondor:ap41:12.3"
    ]
    assert isinstance(call(url, "htcondor:ap42:12").exception, JobError)
    assert isinstance(call(url, "htcondor:ap40:12", "--cluster", "ap41").exception, JobError)


def test_jobs_of_one_moment_and_of_which_nothing_is_known_have_a_page(tmp_path: Path) -> None:
    states = (State.PENDING, State.RUNNING, State.FAILED)
    brief = job(slurm_id("c", "2"), *(told(0, state) for state in states))
    url = filled(tmp_path / "jobs.db", [job(slurm_id("c", "1"), submission=Submission()), brief])
    assert "(0 s)" in shown(url, "2")
    assert shown(url, "1").splitlines() == [
        "NO STATE KNOWN  job 1 on c",
        "  id         slurm:c:1",
        "  submitted  –",
    ]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (["5"], ["htcondor:ap40:5.0"]),
        (["7"], ["slurm:grid:7"]),
        (["3_10"], ["slurm:grid:3_10"]),
        (["3"], ["slurm:grid:3_1", "slurm:grid:3_2", "slurm:grid:3_10"]),
        (["12", "--cluster", "grid"], ["slurm:grid:12"]),
        (["12", "--cluster", "ap40"], [f"htcondor:ap40:12.{proc}" for proc in range(4)]),
        (["htcondor:ap41:12.3"], ["htcondor:ap41:12.3"]),
        (["(012.003.000)", "--cluster", "htcondor:ap41"], ["htcondor:ap41:12.3"]),
        (["7.batch", "5.0"], ["slurm:grid:7", "htcondor:ap40:5.0"]),
        (["7", "7"], ["slurm:grid:7"]),
    ],
)
def test_short_ids_and_whole_ones(url: str, asked: list[str], found: list[str]) -> None:
    told_json = json.loads(shown(url, *asked, "--json"))
    documents = told_json if isinstance(told_json, list) else [told_json]
    assert [plain(one).id for one in documents] == found


def test_json_is_an_object_for_one_whole_id_and_else_a_list(url: str) -> None:
    assert plain(json.loads(shown(url, "5.0", "--json"))) == JOBS[5]
    assert plain(json.loads(shown(url, "slurm:grid:7", "--json"))) == JOBS[-2]
    assert len(json.loads(shown(url, "7", "--json"))) == 1
    assert len(json.loads(shown(url, "5.0", "7", "--json"))) == 2


@pytest.mark.parametrize("text", ["12.3", "12"])
def test_jobs_of_several_clusters_are_never_guessed_between(url: str, text: str) -> None:
    result = call(url, text)
    assert isinstance(result.exception, JobError)
    assert f"htcondor:ap40:{text}, htcondor:ap41:{text}" in str(result.exception)
    assert "--cluster" in str(result.exception)
    assert not result.stdout


def test_the_request_that_would_have_fitted_is_of_the_largest_run_of_the_name(
    tmp_path: Path,
) -> None:
    tasks = [
        slurm_job(
            f"9_{at}", State.RUNNING, State.COMPLETED, request=Request(memory_mb=4000, cpus=1),
            submission=Submission(user=user, name=name), usage=Usage(memory_mb=1000 * at, cpus=1),
        )
        for at, user, name in (
            (1, "ann", "sim"), (2, "ann", "sim"), (3, "ann", "x"), (4, "bo", "sim"),
        )
    ]  # fmt: skip
    url = filled(tmp_path / "jobs.db", tasks)
    page = " ".join(shown(url, "9_1").split())
    assert "would fit --mem=2400M --time=00:02:00 (from the largest of 2 runs of its name" in page
    printed = json.loads(shown(url, "slurm:grid:9_1", "--json"))["efficiency"]
    assert printed["memory_share"] == 0.25
    assert printed["would_fit"]["request"] == {"--mem": "2400M", "--time": "00:02:00"}


def test_of_several_ids_those_that_are_known_are_shown(url: str) -> None:
    result = call(url, "99", "5.0", "98_1")
    assert result.exit_code == 1
    assert isinstance(result.exception, JobError)
    assert "the store has no job 98_1" in str(result.exception)
    assert "the store has no job 99" in result.stderr
    assert "job 5.0 on ap40" in result.stdout


@pytest.mark.parametrize("archived", [False, True])
def test_a_task_is_found_by_the_number_that_slurm_itself_gave_it(
    tmp_path: Path, archived: bool
) -> None:
    tasks = [
        slurm_job(f"1234_{task}", *LIVES, submission=Submission(raw_id=raw))
        for task, raw in (("5", "1237"), ("6", "1238"), ("7", "1234"))
    ]
    url = filled(tmp_path / "jobs.db", [*tasks, held_job(cluster=1238, proc=0)])
    if archived:
        with open_store(url) as store:
            assert store.prune(START + 10_000 * SECOND).documents == 4
    assert "job 1234_5 on grid" in shown(url, "1237")
    assert "job 1234_5 on grid" in shown(url, "slurm:grid:1237")
    assert "job 1234_5 on grid" in shown(url, "1237.batch")
    assert [one["id"] for one in json.loads(shown(url, "1237", "--json"))] == [tasks[0].id]
    with open_store(url) as store:
        assert len(find_ids(store, parse_job_name("1234"))) == 3
        assert find_ids(store, parse_job_name("1238"), "grid") == [tasks[1].id]
        with pytest.raises(JobError, match="several clusters: htcondor:ap40:1238, slurm:grid:1238"):
            find_ids(store, parse_job_name("1238"))
        with pytest.raises(JobError, match="has no job"):
            find_ids(store, parse_job_name("1237_5"))


def test_a_long_timeline_is_shown_from_both_ends(tmp_path: Path) -> None:
    loop = [
        told(
            at,
            State.HELD if at % 2 else State.PENDING,
            source="eventlog",
            position=at,
            code=12 + at % 2,
        )
        for at in range(1200)
    ]
    url = filled(tmp_path / "jobs.db", [job(condor_id("ap", 1, 0), *loop)])
    page = shown(url, "1.0")
    assert "… 960 more: --all-events shows them" in page
    assert "200 events of the middle were not kept" in page
    assert len(shown(url, "1.0", "--all-events").splitlines()) > 1000


def said(by: str, at: int, answer: dict[str, Any]) -> Prediction:
    return Prediction(question=by, model=by, time=at, inputs="", answer=answer)


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    hostile = job(
        condor_id(HOSTILE, 1, 0),
        told(1, State.HELD, reason=HOSTILE, word=HOSTILE, host=HOSTILE, slot=HOSTILE, code=12),
        told(2, State.FAILED, source=HOSTILE, reason=HOSTILE * 100),
        submission=Submission(
            user=HOSTILE, name=HOSTILE, command=HOSTILE, arguments=HOSTILE, line=HOSTILE,
            directory=HOSTILE, comment=HOSTILE, dag=HOSTILE, script=f"#!/bin/sh\n{HOSTILE}\n" * 9,
        ),
        predictions=(
            said(HOSTILE, 1, {"answer": HOSTILE}),
            said("m", 2, {HOSTILE: [HOSTILE]}),
        ),
    )  # fmt: skip
    url = filled(tmp_path / "jobs.db", [hostile])
    for columns in ("", "30", "500"):
        page = shown(url, "1.0", COLUMNS=columns)
        assert all(line.isprintable() for line in page.splitlines())
    printed = shown(url, "1.0", "--json")
    assert printed.isascii()
    assert plain(json.loads(printed)) == hostile
    result = call(url, "1.0", "--cluster", HOSTILE + "x")
    assert str(result.exception).isprintable()


@pytest.mark.parametrize("columns", [40, 60, 100])
def test_a_narrow_terminal_gets_narrow_lines(url: str, columns: int) -> None:
    page = shown(url, "5.0", COLUMNS=str(columns))
    assert max(map(cell_len, page.splitlines())) <= columns


def test_of_a_number_used_again_the_newest_job_is_shown_and_the_others_are_named(
    tmp_path: Path,
) -> None:
    first = slurm_job("7", State.PENDING, State.RUNNING, user="ann")
    again = [
        msgspec.structs.replace(one, time=one.time + 600 * SECOND)
        for one in slurm_job("7", *LIVES).timeline
    ]
    second = JobDocument(
        id=first.id,
        updated=first.updated + 600 * SECOND,
        submission=Submission(user="bob", submitted=again[0].time),
        timeline=tuple(again),
    )
    url = filled(tmp_path / "jobs.db", [first, second])
    found = call(url, "7")
    assert found.stdout.startswith("COMPLETED  job 7@2 on ")
    assert f"Slurm gave this number to other jobs too: {first.id} of " in found.stderr
    older = call(url, first.id)
    assert older.stdout.startswith("RUNNING  job 7 on ")
    assert f"{first.id}@2 of bob" in older.stderr
    assert "siblings" not in found.stdout + older.stdout
    assert json.loads(shown(url, "7@2", "--json"))["submission"]["user"] == "bob"
