"""The corpus of jobs is what its manifest says, and so is what happens when they run."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from corpus.check import score
from corpus.check.baselines import compilers
from corpus.check.manifest import HERE, Job, Planted, jobs
from corpus.check.running import confined
from corpus.check.score import found_by_check, interval, measures
from corpus.check.verify import contradiction, run_locally
from tests.support.limits import prove

JOBS = jobs()
LOCAL = [job for job in JOBS if "run" in job.verified]
FAMILIES = {"syntax", "missing", "requests", "logic", "htcondor", "dag"}


def test_corpus_is_large_and_balanced() -> None:
    assert len(JOBS) >= 200
    assert 0.4 < sum(job.sound for job in JOBS) / len(JOBS) < 0.6
    assert {error.family for job in JOBS for error in job.errors} == FAMILIES


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.path)
def test_manifest_matches_the_files(job: Job) -> None:
    assert job.sound == (not job.errors)
    assert job.file.is_file()
    for error in job.errors:
        for name, line in ((error.file, error.line), *error.also):
            assert 1 <= line <= (job.folder / name).read_bytes().count(b"\n")


def test_no_file_is_left_out_of_the_manifest() -> None:
    listed = {path for job in JOBS for path in job.files}
    assert {path for path in (HERE / "jobs").rglob("*") if path.is_file()} == listed


def run_each(chosen: list[Job]) -> None:
    if not confined():
        pytest.skip("cannot make namespaces here: needs unshare")
    said = run_locally(chosen)
    ran = [job for job in chosen if (job.path, "run") in said]
    wrong = {job.path: contradiction(job, *said[job.path, "run"]) for job in ran}
    assert {path: words for path, words in wrong.items() if words} == {}


@pytest.mark.slow
def test_some_jobs_do_what_the_manifest_says() -> None:
    quick = [job for job in LOCAL if not job.shows and job.scheduler == "slurm"]
    run_each(quick[::12])


@prove
@pytest.mark.slow
def test_all_jobs_do_what_the_manifest_says() -> None:
    run_each(LOCAL)


def job_with(*errors: Planted, path: str = "jobs/x.sh") -> Job:
    return Job(path, "slurm", "1", not errors, errors, ("run",))


def test_measures_count_lines_and_severities() -> None:
    planted = Planted("x.sh", 5, "", "syntax", "error", also=(("x.sh", 9),))
    bad, good = job_with(planted), job_with(path="jobs/y.sh")
    found = {bad.path: [("x.sh", 6, "error")], good.path: [("y.sh", 1, "warning")]}
    assert dict(measures([bad, good], found)) == {
        "recall": [(0, 1)],
        "recall ±1": [(1, 1)],
        "false alarms": [(0, 1)],
        "sound with warning": [(1, 1)],
    }
    elsewhere = dict(measures([bad], {bad.path: [("x.sh", 9, "error")]}, "syntax"))
    assert elsewhere["recall"] == [(1, 1)]
    assert interval([(1, 1), (1, 1), (0, 1), (0, 1)])[0] == 50


def test_a_crash_of_the_check_is_an_error_at_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def checked(folder: Path, names: Sequence[str], *options: str) -> dict[str, list[object]]:
        if "bad.sh" in names:
            raise SystemExit("crashed")
        return {name: [] for name in names}

    monkeypatch.setattr(score, "checked", checked)
    assert found_by_check([job_with(path="jobs/good.sh"), job_with(path="jobs/bad.sh")]) == {
        "jobs/good.sh": [],
        "jobs/bad.sh": [("", 1, "error")],
    }


def test_a_run_contradicts_the_manifest_if_sound_jobs_fail_or_faulty_ones_succeed() -> None:
    bad = job_with(Planted("x.sh", 1, "", "logic", "error"))
    assert contradiction(bad, 1, "") == ""
    assert contradiction(bad, 0, "done")
    assert contradiction(job_with(), 1, "not found")


def test_compilers_find_syntax_errors_by_line() -> None:
    job = next(job for job in JOBS if job.path == "jobs/py_unclosed_string/job.sh")
    assert compilers(job) == [("train.py", 4, "error")]
