"""Published tables: NREL's Eagle, and the waiting jobs of Graham and Cedar; CSV and Parquet."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import polars as pl
import pytest
from tests.importing import SAMPLES, imported, states, written

from jobsight.clock import format_micros
from jobsight.errors import SourceError, UsageError
from jobsight.history.importers import Options

EAGLE, GRAHAM = SAMPLES / "eagle.csv", SAMPLES / "graham.csv"


def test_a_job_of_eagle() -> None:
    jobs, report = imported(EAGLE)
    job = jobs["7002"]
    assert job.id == "slurm:eagle:7002"
    assert (job.request.cpus, job.request.nodes, job.request.gpus) == (72, 2, 4)
    assert (job.request.memory_mb, job.request.time_limit_s) == (184_000, 1800)
    assert (job.submission.user, job.submission.line) == ("user0002", "submit_line02")
    assert [str(event.state) for event in job.timeline] == ["pending", "running", "timeout"]
    assert job.usage.wall_s == 1805.0
    assert states(jobs) == {"completed": 3, "failed": 1, "timeout": 1}
    assert (report.rows, report.bad) == (6, 1)
    assert report.first_bad[0].reason == "it ends before it starts"
    assert report.first_bad[0].place == 7


def test_eagle_stands_in_colorado_unless_told_otherwise() -> None:
    job = imported(EAGLE)[0]["7001"]
    assert format_micros(job.timeline[0].time) == "2020-02-03 15:00:00Z"
    job = imported(EAGLE, options=Options(timezone="UTC"))[0]["7001"]
    assert format_micros(job.timeline[0].time) == "2020-02-03 08:00:00Z"


def test_no_memory_asked_for_is_not_known_rather_than_none() -> None:
    assert imported(EAGLE)[0]["7001"].request.memory_mb is None


def test_tasks_that_bear_their_arrays_number_stay_apart() -> None:
    jobs, _ = imported(EAGLE)
    tasks = [jobs[f"7003_{number}"] for number in (1, 2, 3)]
    assert {task.submission.array for task in tasks} == {"7003"}
    assert [str(task.state) for task in tasks] == ["completed", "failed", "completed"]


def test_a_job_of_graham() -> None:
    jobs, report = imported(GRAHAM)
    job = jobs["9002"]
    assert job.id == "slurm:graham:9002"
    assert (job.request.cpus, job.request.gpus, job.request.memory_mb) == (8, 2, 16_384)
    assert (job.request.partition, job.request.account, job.request.nodes) == ("3", "42", 1)
    assert job.request.priority is None  # only that of the end is known
    assert job.usage.nodes == 1
    times = [format_micros(event.time) for event in job.timeline]
    assert times == [
        "2021-05-01 15:00:00Z",  # 11:00 in Toronto
        "2021-05-01 15:30:00Z",
        "2021-05-01 16:00:00Z",
        "2021-05-02 00:00:00Z",
        "2021-05-02 00:01:00Z",
    ]
    assert [event.word for event in job.timeline] == [None, "ELIGIBLE", None, None, "OUT_OF_MEMORY"]
    assert not report.bad


def test_a_table_in_parquet_gives_the_same_documents(tmp_path: Path) -> None:
    for path in (EAGLE, GRAHAM):
        frame = pl.read_csv(path, try_parse_dates=True)
        parquet = tmp_path / f"{path.stem}.parquet"
        frame.with_columns(pl.col("submit_time").cast(pl.Datetime("ns"))).write_parquet(parquet)
        assert frame.schema["submit_time"] == pl.Datetime
        assert imported(parquet)[0] == imported(path)[0]


def test_parquet_is_read_from_compressed_files_and_pipes(tmp_path: Path) -> None:
    import gzip

    pl.read_csv(GRAHAM).write_parquet(tmp_path / "t.parquet")
    packed = written(
        tmp_path, gzip.compress((tmp_path / "t.parquet").read_bytes()), "graham.parquet.gz"
    )
    assert imported(packed)[0] == imported(GRAHAM)[0]


def test_which_of_the_two_clusters_must_be_known(tmp_path: Path) -> None:
    path = written(tmp_path, GRAHAM.read_bytes(), "jobs.csv")
    with pytest.raises(UsageError, match="--cluster"):
        imported(path)
    (job, *_) = imported(path, options=Options(cluster="cedar"))[0].values()
    assert job.id == "slurm:cedar:9001"
    assert format_micros(job.timeline[0].time) == "2021-05-01 17:00:00Z"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("2020-02-03 08:00:00", "soon", "no time"),
        ("2020-02-03 08:00:00", "", "no time of submission"),
        ("2020-02-03 08:00:00", "1901-01-01 00:00:00", "no time of a job"),
        ("COMPLETED", "DONE", "no state"),
        ("7001,", ",", "no number"),
        ("7001,", "7001.5,", "whole number"),
        ("3600.0", "-5", "out of range"),
        ("3600.0", "inf", "out of range"),
        ("normal", "nor,mal", "19 fields"),
        ("normal", '"normal', "quotes"),
        ("2020-02-03 08:00:10", "2020-02-03 07:00:10", "starts before"),
    ],
)
def test_bad_rows_of_tables(old: str, new: str, reason: str, tmp_path: Path) -> None:
    head, first, *rest = EAGLE.read_text().splitlines(keepends=True)
    text = head + first.replace(old, new, 1) + "".join(rest[:-1])
    jobs, report = imported(written(tmp_path, text))
    assert len(jobs) == 4
    assert (report.bad, report.first_bad[0].place) == (1, 2)
    assert reason in report.first_bad[0].reason


@pytest.mark.parametrize(
    ("start", "end", "seconds", "meant"),
    [("01:50", "01:10", 1200, ("07:50", "08:10")), ("00:50", "01:10", 4800, ("06:50", "08:10"))],
)
def test_the_hour_that_eagles_clock_showed_twice(
    start: str, end: str, seconds: int, meant: tuple[str, str], tmp_path: Path
) -> None:
    head, first, *_ = EAGLE.read_text().splitlines()
    row = dict(zip(head.split(","), first.split(","), strict=True))
    told = {"submit_time": "00:30", "start_time": start, "end_time": end}
    row |= {name: f"2019-11-03 {time}:00" for name, time in told.items()}
    row["run_time"] = str(seconds)
    (job,) = imported(written(tmp_path, f"{head}\n{','.join(row.values())}\n"))[0].values()
    assert tuple(format_micros(event.time)[11:16] for event in job.timeline[1:]) == meant


def test_quoted_fields_may_hold_commas(tmp_path: Path) -> None:
    text = EAGLE.read_text().replace("name02", '"a, ""b"""')
    assert imported(written(tmp_path, text))[0]["7002"].submission.name == 'a, "b"'


def test_a_table_that_lacks_a_column_says_which(tmp_path: Path) -> None:
    path = written(tmp_path, EAGLE.read_text().replace("wallclock_req", "limit"))
    with pytest.raises(SourceError, match="lacks the column 'wallclock_req'"):
        imported(path, format="eagle")


def test_a_damaged_parquet_file_is_one_clear_error(tmp_path: Path) -> None:
    path = written(tmp_path, b"PAR1" + bytes(100) + b"PAR1", "graham.parquet")
    with pytest.raises(SourceError, match="no known format"):
        imported(path)
    with pytest.raises(SourceError, match="damaged Parquet"):
        imported(path, format="graham")


def test_parquet_times_may_have_a_zone(tmp_path: Path) -> None:
    frame = pl.read_csv(EAGLE, try_parse_dates=True)
    moved = frame.with_columns(
        pl.col("submit_time", "start_time", "end_time").dt.replace_time_zone("UTC")
    )
    moved.write_parquet(tmp_path / "eagle.parquet")
    job = imported(tmp_path / "eagle.parquet")[0]["7001"]
    moment = dt.datetime(2020, 2, 3, 8, tzinfo=dt.UTC)
    assert job.timeline[0].time == int(moment.timestamp()) * 1_000_000
