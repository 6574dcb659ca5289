"""SWF: what its numbers become, and what −1 leaves open."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.importing import SAMPLES, imported, states, written

from jobsight.documents import JobDocument, State, merge
from jobsight.documents.spans import life, ran, total
from jobsight.errors import SourceError
from jobsight.history.importers import Options

START = 1_772_442_000
HEAD = f"; Version: 2.2\n; UnixStartTime: {START}\n"
PLAIN = "1 0 60 3600 8 3500.5 102400 8 7200 204800 1 1 1 1 1 1 -1 -1\n"


def sample() -> dict[str, JobDocument]:
    return imported(SAMPLES / "trace.swf")[0]


def told(document: JobDocument) -> list[tuple[int, str]]:
    return [(event.time // 1_000_000 - START, str(event.state)) for event in document.timeline]


def test_a_job_that_ran() -> None:
    job = sample()["1"]
    assert told(job) == [(0, "pending"), (60, "running"), (3660, "completed")]
    assert (job.request.cpus, job.request.time_limit_s, job.request.memory_mb) == (8, 7200, 1600)
    assert (job.usage.cpu_s, job.usage.memory_mb, job.usage.wall_s) == (28004.0, 800, 3600.0)
    assert (job.request.partition, job.request.qos) == ("main", "batch")
    assert (job.submission.user, job.submission.group, job.submission.command) == ("1", "1", "1")
    assert job.id == "slurm:trace:1"


def test_what_is_minus_one_is_not_known() -> None:
    job = sample()["3"]
    assert job.usage.cpus is job.usage.cpu_s is job.usage.memory_mb is None
    assert job.request.memory_mb is None
    assert job.request.dependency == "afterany:1"


def test_a_job_cancelled_before_it_ran_did_not_start() -> None:
    assert told(sample()["3"]) == [(180, "pending"), (1080, "cancelled")]


def test_a_job_cancelled_while_it_ran() -> None:
    assert told(sample()["4"]) == [(240, "pending"), (250, "running"), (750, "cancelled")]


def test_a_job_of_which_nothing_is_known_has_an_unknown_end() -> None:
    job = sample()["5"]
    assert told(job) == [(300, "pending"), (300, "unknown_end")]
    assert [event.undated for event in job.timeline] == [False, True]
    outcome = merge(None, job).outcome
    assert outcome is not None
    assert outcome.ended is None


def test_a_wait_that_is_unknown_is_not_0(tmp_path: Path) -> None:
    lines = "7 10 -1 50 4 -1 -1 4 -1 -1 1 1 1 1 1 1 -1 -1\n"
    lines += "9 10 -1 100 2 50 -1 2 -1 -1 2 1 1 1 1 1 -1 -1\n"
    lines += "9 -1 7 30 2 20 -1 2 -1 -1 4 1 1 1 1 1 -1 -1\n"
    jobs, _ = imported(written(tmp_path, HEAD + lines))
    for job, ran_for in ((jobs["7"], 50.0), (jobs["9"], 130.0)):
        assert total(life(job, 0)) is None
        assert ran(job, 0) == ran_for
        assert job.timeline[-1].undated


def test_parts_of_a_job_that_was_swapped_out_are_one_job() -> None:
    job = sample()["6"]
    assert told(job) == [
        (360, "pending"),
        (380, "running"),
        (780, "suspended"),
        (880, "running"),
        (1380, "suspended"),
        (1430, "running"),
        (1730, "completed"),
    ]
    assert job.usage.wall_s == 1200.0  # the summary's, not that of a part


def test_parts_without_a_summary_add_up(tmp_path: Path) -> None:
    lines = "9 10 5 100 2 50 -1 2 -1 -1 2 1 1 1 1 1 -1 -1\n"
    lines += "9 -1 7 30 2 20 -1 2 -1 -1 4 1 1 1 1 1 -1 -1\n"
    jobs, _ = imported(written(tmp_path, HEAD + lines))
    assert told(jobs["9"])[-2:] == [(122, "running"), (152, "failed")]
    assert (jobs["9"].usage.wall_s, jobs["9"].usage.cpu_s) == (130.0, 140.0)


def test_parts_of_one_job_are_kept_up_to_a_bound(tmp_path: Path) -> None:
    part = "9 10 5 1 2 1 -1 2 -1 -1 2 1 1 1 1 1 -1 -1\n"
    jobs, report = imported(written(tmp_path, HEAD + part * 10_003))
    assert (list(jobs), report.bad, report.rows) == (["9"], 3, 10_003)
    assert "more than 10000 parts" in report.first_bad[0].reason


def test_a_part_that_nobody_continues_ends_unknown(tmp_path: Path) -> None:
    line = "9 10 5 100 2 50 -1 2 -1 -1 2 1 1 1 1 1 -1 -1\n"
    jobs, _ = imported(written(tmp_path, HEAD + line))
    assert jobs["9"].state is State.UNKNOWN_END


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1 2 3\n", "3 fields"),
        (PLAIN.replace("7200", "soon"), "could not convert"),
        (PLAIN.replace("7200", "nan"), "out of range"),
        (PLAIN.replace("7200", "-7"), "out of range"),
        (PLAIN.replace("7200", "9" * 30), "out of range"),
        (PLAIN.replace(" 1 1 1 1 1 1 -1", " 8 1 1 1 1 1 -1"), "status 8"),
        ("-1" + PLAIN[1:], "job number"),
        ("1 -1" + PLAIN[3:], "nothing can be dated"),
        ("9 9 5 1 2 5 -1 2 -1 -1 1 1 1 1 1 1 -1 -1\n" * 2, "several lines"),
        (PLAIN.replace(" 3600 ", f" {2**52} "), "no time of a job"),
    ],
)
def test_a_bad_row_is_counted_and_all_others_are_imported(
    line: str, reason: str, tmp_path: Path
) -> None:
    good = PLAIN.replace("1", "77", 1)
    jobs, report = imported(written(tmp_path, HEAD + line + good))
    assert list(jobs) == ["77"]
    assert report.bad == line.count("\n")
    assert reason in report.first_bad[0].reason
    assert report.first_bad[0].place == 3
    assert report.rows == 1 + line.count("\n")


def test_fractions_are_read_where_traces_have_them(tmp_path: Path) -> None:
    jobs, report = imported(written(tmp_path, HEAD + PLAIN.replace("3600 8", "3599.6 8")))
    assert told(jobs["1"])[-1] == (3660, "completed")
    assert not report.bad


def test_a_trace_that_does_not_tell_when_it_begins_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="UnixStartTime"):
        imported(written(tmp_path, "; Version: 2.2\n" + PLAIN))


def test_a_file_without_jobs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="18 numbers a line"):
        imported(written(tmp_path, HEAD + "good morning\n"))


def test_the_cluster_is_named_by_the_user_first(tmp_path: Path) -> None:
    path = written(tmp_path, HEAD + PLAIN, "CEA-2011.swf")
    (job,) = imported(path)[0].values()
    assert job.id == "slurm:CEA-2011:1"
    (job,) = imported(path, options=Options(cluster="curie"))[0].values()
    assert job.id == "slurm:curie:1"


def test_the_sample_by_state() -> None:
    assert states(sample()) == {"completed": 2, "cancelled": 2, "failed": 1, "unknown_end": 1}
