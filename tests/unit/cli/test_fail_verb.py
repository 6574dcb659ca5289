"""The command itself: on a store of made jobs with a trained model, and on a real sample."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from msgspec.structs import replace
from tests.support.calling import jobsight
from tests.support.failingjobs import documents, model, ran
from tests.support.importing import SAMPLES
from tests.support.storedjobs import HOSTILE, filled, held_job

from jobsight.files import Kind, new_folder
from jobsight.learning.registry import Registry
from jobsight.store import open_store

AGO = 400 * 300
AT = ("--at", "2026-11-22 11:10:00")
SACCT = str(SAMPLES / "sacct.psv")


Run = Callable[..., CompletedProcess[str]]


@pytest.fixture
def run() -> Run:
    return jobsight


@pytest.fixture
def fail(run: Run) -> Run:
    return partial(run, "fail", "--timezone", "UTC")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("models") / "model"
    with new_folder(path, Kind.MODEL) as folder:
        model().save(folder, seed=0, facts={})
    return str(path)


@pytest.fixture
def store(tmp_path: Path) -> str:
    waiting = [ran(f"4711_{task}", AGO, waits=True) for task in range(3)]
    hostile = ran(4712, AGO, user="bob", name=HOSTILE, waits=True)
    made = [*documents(), *waiting, hostile, ran(4713, AGO, None), held_job()]
    return filled(tmp_path / "jobs.db", made)


def test_one_job_is_one_object(fail: Run, store: str, trained: str) -> None:
    done = fail("4711_1", "--store", store, "--model", trained, *AT, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["id"] == "slurm:grid:4711_1" and found["at"] == "2026-11-22 11:10:00Z"
    assert found["kind"] == "out_of_memory" and found["probability"] > 0.5
    assert found["advice"]["option"] == "--mem=13696M" and found["with_advice"] < 0.5
    assert found["model"].startswith("mixture@")


def test_text_of_jobs_of_a_number_and_of_one_that_runs(fail: Run, store: str, trained: str) -> None:
    done = fail("4711", "4713", "4712", "--store", store, "--model", trained, *AT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("to fail  job 4711_") == 3
    assert "job 4713 (align.sh) of ann on grid, running" in done.stdout
    assert "advice   ask for more memory: the largest peak known is 11,878 MB" in done.stdout
    assert "to fail with it (" in done.stdout
    assert "evidence · of this user's last 20 runs of align.sh " in done.stdout
    assert all(letter.isprintable() or letter == "\n" for letter in done.stdout)


def test_queues_are_tables_by_cause_or_lists(fail: Run, store: str, trained: str) -> None:
    at = ("--store", store, "--model", trained, *AT)
    done = fail("--pending", *at)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("4 jobs pending as of 2026-11-22 11:10:00Z; model: mixture@")
    rows = [line for line in done.stdout.splitlines() if " % " in line]
    assert len(rows) == 2 and "3 tasks of 4711" in rows[0]
    assert all(letter.isprintable() or letter == "\n" for letter in done.stdout)
    each = fail("--pending", "--running", "--each", *at)
    assert sum(" % " in line for line in each.stdout.splitlines()) == 5
    found = json.loads(fail("--running", *at, "--json").stdout)
    assert [one["job"] for one in found] == ["4713"]
    done = fail("--running", "--import", SACCT, "--at", "2026-03-02 09:00:10")
    assert done.stdout == "no job is running as of 2026-03-02 09:00:10Z\n"


def test_a_script_is_asked_about_as_if_it_were_submitted(
    fail: Run, store: str, trained: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "ann")
    script = tmp_path / "align.sh"
    script.write_text("#!/bin/sh\n#SBATCH --mem=8G -c 4 -p main\n#SBATCH -t 60\nrun\n")
    at = ("--store", store, "--model", trained, *AT)
    small = json.loads(fail(str(script), *at, "--json").stdout)
    assert small["job"] is small["id"] is None and small["kind"] == "out_of_memory"
    assert small["evidence"][0]["what"] == "like"
    large = json.loads(fail(str(script), "--mem", "16G", *at, "--json").stdout)
    assert small["probability"] > 0.5 > large["probability"]
    assert large["advice"] is None
    assert "align.sh of ann, if it is submitted now" in fail(str(script), *at).stdout
    done = fail(str(script), "-t", "soon", *at)
    assert done.returncode == 2 and "refuses --time=soon" in done.stderr
    assert fail(str(script), *at, "--save").returncode == 2


@pytest.mark.parametrize(
    ("text", "sure", "words"),
    [
        ("#!/bin/nope\necho hi\n", True, "there is no /bin/nope"),
        ("#!/bin/sh\n#SBATCH --mem=1G --mem-per-cpu=2G\necho hi\n", True, "sbatch refuses"),
        ("#!/bin/sh\nif true; then\n", True, "JS001"),
        ("#!/bin/sh\nsort reads.txt\n", False, "reads.txt is not there"),
        ("#!/bin/sh\necho hi\n", False, ""),
    ],
)
def test_what_check_finds_wrong_with_a_script_counts(
    fail: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, sure: bool, words: str
) -> None:
    monkeypatch.setenv("LOGNAME", "ann")
    monkeypatch.chdir(tmp_path)
    Path("align.sh").write_text(text)
    runs = [ran(n, n * 300) for n in range(20)]
    store = ("--store", filled(tmp_path / "done.db", runs))
    found = json.loads(fail("align.sh", *store, "--json").stdout)
    if not words:
        assert found["probability"] < 0.2 and found["advice"] is None
        return
    assert found["probability"] > (0.95 if sure else 0.5)
    assert found["kind"] == "failed" and found["evidence"][0]["what"] == "check"
    assert found["advice"]["text"].startswith("fix the script first: align.sh:")
    assert words in found["advice"]["text"] and words in found["evidence"][0]["text"]
    # Where nothing has ended, too; but not where this very script completed.
    nothing = ("--store", filled(tmp_path / "none.db", [ran(1, 5, None)]))
    assert json.loads(fail("align.sh", *nothing, "--json").stdout)["kind"] == "failed"
    same = [replace(run, submission=replace(run.submission, script=text)) for run in runs]
    store = ("--store", filled(tmp_path / "same.db", same))
    found = json.loads(fail("align.sh", *store, "--json").stdout)
    assert found["probability"] < 0.2 and "this very script completed" in str(found["evidence"])


def test_the_champion_answers_and_saved_answers_are_kept(
    fail: Run, run: Run, store: str, trained: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOBSIGHT_REGISTRY", str(tmp_path / "registry"))
    assert "rates (uncalibrated)" in fail("4712", "--store", store, *AT).stdout
    digest = Registry(tmp_path / "registry").put(Path(trained), "fail", "grid")
    done = fail("4711", "--store", store, *AT, "--save", "--json")
    assert done.returncode == 0 and "saved 3 answers" in done.stderr
    answers = json.loads(done.stdout)
    with open_store(store) as opened:
        (kept,) = opened.get(["slurm:grid:4711_2"])["slurm:grid:4711_2"].document.predictions
    assert (kept.question, kept.model) == ("fail", f"mixture@{digest}")
    assert kept.answer == answers[2] and len(kept.inputs) == 16
    assert f"mixture@{digest}" in run("job", "4711_2", "--store", store).stdout
    assert "uncalibrated" in fail("4711", "--store", store, *AT, "--model", "none").stdout


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["4799", *AT], 1, "no job 4799 is known as of 2026-11-22 11:10:00Z"),
        (["slurm:other:4711_1", *AT], 1, "no job slurm:other:4711_1 is known"),
        (["2", *AT], 1, "job 2 has ended: completed at 2026-11-21 01:56:00Z"),
        (["4711", "--at", "2026-11-21"], 1, "the first job is of 2026-11-21 01:35:00Z; name a"),
        (["nothing.sh"], 2, "'nothing.sh' is neither a job id (123, 123_4, 123.4) nor a file"),
        (["4711", "--jsn"], 2, "no such option: --jsn"),
        (["--jsn"], 2, "no such option: --jsn"),
        ([], 2, "name jobs or a script, or ask for --pending or --running"),
        (["4711", "--pending"], 2, "name jobs or a script"),
        (["4711", "--model", "/nowhere"], 1, "no model directory"),
    ],
)
def test_what_cannot_be_answered_is_said_in_a_line(
    fail: Run, store: str, arguments: list[str], status: int, words: str
) -> None:
    done = fail(*arguments, "--store", store)
    assert done.returncode == status, done
    assert words in done.stderr and done.stderr.count("\n") == 1 and not done.stdout


def test_others_are_answered_where_one_is_unknown(fail: Run, store: str) -> None:
    done = fail("4799", "4712", "--store", store, *AT, "--json")
    assert done.returncode == 1 and "no job 4799" in done.stderr
    assert [one["job"] for one in json.loads(done.stdout)] == ["4712"]


def test_a_history_of_a_real_cluster_without_a_model(fail: Run) -> None:
    done = fail("103", "109", "--import", SACCT, "--json")
    assert done.returncode == 0, done.stderr
    found = {one["job"]: one for one in json.loads(done.stdout)}
    assert found.keys() == {"103_3", "103_4", "109"}
    assert found["103_3"]["evidence"][0]["kinds"] == {"failed": 1, "out_of_memory": 1}
    assert found["109"]["moment"] == "start" and found["109"]["interval"] is None
    assert found["109"]["at"] == "2026-03-02 12:03:21Z"


def test_no_history_is_an_error(fail: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    done = fail("4711")
    assert done.returncode == 2 and "name the history" in done.stderr
    empty = filled(tmp_path / "empty.db", [])
    done = fail("4711", "--store", empty)
    assert done.returncode == 1 and "no job in" in done.stderr


def test_one_user_without_an_end_gets_no_probability(fail: Run, tmp_path: Path) -> None:
    store = filled(tmp_path / "one.db", [ran(1, 0, waits=True, name="a"), ran(2, 5, None)])
    done = fail("--pending", "--store", store, *AT)
    assert done.returncode == 0 and "–" in done.stdout
    found = json.loads(fail("1", "--store", store, *AT, "--json").stdout)
    assert found["probability"] is None and found["evidence"] == []
    shown = fail("1", "--store", store, *AT).stdout
    assert shown.startswith("no probability, no job has ended yet:  job 1 (a) of ann on grid, pend")
